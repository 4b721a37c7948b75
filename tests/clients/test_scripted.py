import asyncio

import pytest

from taskshield.clients.scripted import ScriptedClient, ScriptedReply
from taskshield.core.chat import ChatClient, ChatReply, ChatRequest
from taskshield.core.errors import UpstreamError
from taskshield.core.usage import Usage
from tests.clients.providers import REQUEST, ask


def test_replies_come_in_order_and_then_run_out() -> None:
    client = ScriptedClient(["one", "two"])
    assert [reply.text for reply in ask(client, REQUEST, REQUEST)] == ["one", "two"]
    with pytest.raises(UpstreamError, match="no more than 2 replies"):
        ask(client)
    assert client.requests == [REQUEST] * 3


def test_a_function_answers_each_request() -> None:
    def reply(request: ChatRequest) -> str:
        return request.schema_name

    assert ask(ScriptedClient(reply))[0].text == "verdict"


def test_an_async_function_answers_each_request() -> None:
    async def reply(request: ChatRequest) -> ScriptedReply:
        await asyncio.sleep(0)
        return request.schema_name

    assert ask(ScriptedClient(reply))[0].text == "verdict"


def test_a_whole_reply_is_passed_on_as_it_is() -> None:
    reply = ChatReply(text="cut", finish="length", usage=Usage(calls=1, prompt_tokens=3))
    assert ask(ScriptedClient([reply])) == [reply]


def test_an_exception_is_raised_where_its_turn_comes() -> None:
    client = ScriptedClient([UpstreamError("down", status=503), "up again"])
    with pytest.raises(UpstreamError, match="down"):
        ask(client)
    assert ask(client)[0].text == "up again"


def test_usage_is_estimated_from_the_texts() -> None:
    (reply,) = ask(ScriptedClient(["12345678"]))
    texts = [REQUEST.system, *(turn.text for turn in REQUEST.turns)]
    assert reply.finish == "stop"
    assert reply.usage.calls == 1
    assert reply.usage.prompt_tokens == sum((len(text) + 3) // 4 for text in texts)
    assert reply.usage.completion_tokens == 2


def test_one_text_is_not_a_script() -> None:
    with pytest.raises(TypeError, match="a single text"):
        ScriptedClient("answer")


def test_it_is_a_chat_client_with_a_name_that_can_be_closed() -> None:
    scripted = ScriptedClient([], name="demo")
    client: ChatClient = scripted
    assert client.name == "demo"
    asyncio.run(client.aclose())
    assert scripted.closed
