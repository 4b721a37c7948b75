"""What every client sends, and what it makes of a good answer."""

import asyncio
from dataclasses import replace

import pytest

from taskshield.clients.json_text import encodable
from taskshield.core.chat import ChatTurn
from taskshield.core.usage import Usage
from tests.clients.providers import KEY, PROMPT, REQUEST, SCHEMA, Provider, ask, for_every_provider
from tests.clients.upstream import Upstream, answer


@for_every_provider
def test_the_request_is_sent_complete(provider: Provider) -> None:
    with Upstream(answer(provider.ok("{}"))) as upstream:
        ask(provider.client(upstream))
    (seen,) = upstream.seen
    assert seen.path == provider.path
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["model"] == "some-model"
    assert seen.body["temperature"] == 0
    assert seen.body["max_tokens"] == 256
    assert [turn for turn in seen.body["messages"] if turn["role"] != "system"] == [
        {"role": "user", "content": PROMPT},
        {"role": "assistant", "content": "not JSON"},
        {"role": "user", "content": "again, as JSON"},
    ]
    assert str(SCHEMA) in str(seen.body[provider.format_field])


@for_every_provider
def test_text_and_usage_come_from_the_answer(provider: Provider) -> None:
    with Upstream(answer(provider.ok('{"ok": true}'))) as upstream:
        (reply,) = ask(provider.client(upstream))
    assert reply.text == '{"ok": true}'
    assert reply.finish == "stop"
    assert reply.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=7)


@for_every_provider
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "input_tokens": None}])
def test_missing_usage_counts_as_no_tokens(provider: Provider, usage: object) -> None:
    with Upstream(answer({**provider.ok("{}"), "usage": usage})) as upstream:
        (reply,) = ask(provider.client(upstream))
    assert reply.usage == Usage(calls=1)


@for_every_provider
def test_an_answer_is_read_whatever_content_type_it_claims(provider: Provider) -> None:
    with Upstream(answer(provider.ok("done"), headers={"Content-Type": "text/plain"})) as upstream:
        assert ask(provider.client(upstream))[0].text == "done"


@for_every_provider
def test_an_answer_of_five_megabytes_is_read_whole(provider: Provider) -> None:
    text = "long " * 1_000_000
    with Upstream(answer(provider.ok(text))) as upstream:
        assert ask(provider.client(upstream))[0].text == text


@for_every_provider
def test_text_without_a_utf8_form_is_sent_with_replacements(provider: Provider) -> None:
    request = replace(
        REQUEST, system="s\udfff", turns=(ChatTurn(role="user", text="a\ud800b \U0001f600"),)
    )
    with Upstream(answer(provider.ok("done"))) as upstream:
        assert ask(provider.client(upstream), request)[0].text == "done"
    assert upstream.bodies[0]["messages"][-1]["content"] == "a\ufffdb \U0001f600"


@for_every_provider
def test_one_client_answers_many_requests_at_once(provider: Provider) -> None:
    async def run() -> list[str]:
        client = provider.client(upstream)
        replies = await asyncio.gather(*(client.complete(REQUEST) for _ in range(8)))
        await client.aclose()
        return [reply.text for reply in replies]

    with Upstream(answer(provider.ok("done"))) as upstream:
        assert asyncio.run(run()) == ["done"] * 8


@for_every_provider
def test_the_name_has_provider_and_model(provider: Provider) -> None:
    client = provider.make(model="some-model", api_key="k")
    assert client.name == f"{provider.name}:some-model"
    asyncio.run(client.aclose())


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("", ""),
        ("plain é \U0001f600", "plain é \U0001f600"),
        ("\ud800", "\ufffd"),
        ("\udc00x\ud800", "\ufffdx\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
    ],
)
def test_only_lone_surrogates_are_replaced(text: str, sent: str) -> None:
    assert encodable(text) == sent
