"""Responses that the provider stores: continuing them, and asking for them again."""

import json
from typing import Any

import httpx
import pytest

from taskshield.stores.memory import MemoryStore
from tests.adapters.proxy.streams import Call, Said
from tests.server.listening import Listening
from tests.server.providers.scripted import Asked, Behaviour, Exchange, Provider, say, whole
from tests.server.proxy.agents import StoredResponsesAgent, ThreadAgent
from tests.server.proxy.stage import EVIL, GOOD, TASK, WORSE, proxied
from tests.server.proxy.test_faults import error_of
from tests.server.proxy.test_guarding import sessions

STREAMS = pytest.mark.parametrize("streams", [False, True])


def results(asked: Asked) -> dict[str, str]:
    return {
        item["call_id"]: item["output"]
        for item in asked.body["input"]
        if item.get("type") == "function_call_output"
    }


def post(proxy: Listening, **more: Any) -> httpx.Response:
    return httpx.post(f"{proxy.url}/v1/responses", json={"model": "m", "input": TASK, **more})


def kept(said: Said) -> Behaviour:
    """The provider when it is asked for a stored response."""
    asked = Asked(method="POST", path="/v1/responses", query="", headers={}, content=b"{}")
    return lambda exchange: exchange.send(whole(asked, said))


@STREAMS
def test_the_provider_gets_results_for_removed_calls(
    streams: bool,
) -> None:
    script = [Said(calls=[EVIL], id="1"), Said(calls=[GOOD, EVIL], id="2"), Said("Ok.", id="3")]
    with Provider(*script) as provider, proxied(provider) as proxy:
        agent = StoredResponsesAgent(proxy.url, streams=streams)
        agent.user(TASK)
        assert agent.ask().calls == (GOOD,)
        # Over two rounds a stream has the id of the first; the second is continued.
        assert agent.previous == ("resp_1" if streams else "resp_2")
        agent.output(GOOD, "Total: 98.70")
        agent.ask()
        asked = provider.asked[2]
        assert asked.body["previous_response_id"] == "resp_2"
        assert results(asked) == {
            EVIL.id: "[Task Shield] Removed and not run.",
            GOOD.id: "Total: 98.70",
        }
        assert len(sessions(proxy.url)) == 1


def test_branches_of_a_response_have_the_tasks_up_to_it() -> None:
    script = [Said("Hello.", id="1"), *(Said(calls=[GOOD], id=str(n)) for n in (2, 3))]
    store = MemoryStore()
    with (
        Provider(*script) as provider,
        proxied(provider, store=store) as first,
        proxied(provider, store=store) as second,
    ):
        post(first)
        for proxy in (first, second):
            answer = post(proxy, input=[], previous_response_id="resp_1")
            assert GOOD.id in answer.text


def test_an_unchecked_response_starts_without_tasks() -> None:
    script = [Said(calls=[GOOD], id="7"), Said("Never mind.", id="8")]
    with Provider(*script) as provider, proxied(provider) as proxy:
        answer = post(proxy, input=[], previous_response_id="resp_elsewhere")
        assert GOOD.id not in answer.text
        assert provider.asked[0].body["previous_response_id"] == "resp_elsewhere"


@STREAMS
def test_a_conversation_gets_results_for_removed_calls_once(streams: bool) -> None:
    script = [Said(calls=[EVIL], id="1"), Said("Ok.", id="2"), Said("Bye.", id="3")]
    with Provider(*script) as provider, proxied(provider, policy={"rounds": 0}) as proxy:
        agent = ThreadAgent(proxy.url, streams=streams)
        for said in (TASK, "Go on.", "Thanks."):
            agent.user(said)
            agent.ask()
        assert [list(results(asked)) for asked in provider.asked] == [[], [EVIL.id], []]
        assert len(sessions(proxy.url)) == 1


def test_repeated_instructions_are_judged_once() -> None:
    script = [Said("Hello.", id=str(n)) for n in range(3)]
    with Provider(*script) as provider, proxied(provider) as proxy:
        post(proxy, instructions="Be kind.")
        post(proxy, instructions="Be kind.", previous_response_id="resp_0")
        post(proxy, instructions="Be brief.", previous_response_id="resp_1")
        (session,) = sessions(proxy.url)
        records = httpx.get(
            f"{proxy.url}/api/decisions", headers=proxy.owner, params={"session": session["id"]}
        ).json()["items"]
        assert [each["level"] for each in records].count("system") == 2


def test_background_responses_are_refused() -> None:
    with Provider() as provider, proxied(provider) as proxy:
        assert error_of(post(proxy, background=True)) == (400, "not_guarded")
        assert provider.asked == []


@STREAMS
def test_a_stored_response_has_no_removed_calls(streams: bool) -> None:
    last = Said(calls=[GOOD, WORSE], id="2")
    script = [say(Said(calls=[EVIL], id="1")), say(last), kept(last)]
    with Provider(*script) as provider, proxied(provider, policy={"rounds": 1}) as proxy:
        agent = StoredResponsesAgent(proxy.url, streams=streams)
        agent.user(TASK)
        agent.ask()
        found = httpx.get(f"{proxy.url}/v1/responses/{agent.previous}")
        assert provider.asked[2].path == "/v1/responses/resp_2"
        assert found.json()["id"] == agent.previous
        assert GOOD.id in found.text and WORSE.id not in found.text
        assert "Task Shield" in found.text


def test_an_allowed_stored_response_is_unchanged() -> None:
    said = Said("Here.", calls=[GOOD], id="1")
    with Provider(say(said), kept(said)) as provider, proxied(provider) as proxy:
        post(proxy)
        found = httpx.get(f"{proxy.url}/v1/responses/resp_1?include=x")
        assert provider.asked[1].query == "include=x"
        assert found.content == whole(provider.asked[0], said)


def test_an_unchecked_stored_response_has_no_calls() -> None:
    with Provider(kept(Said("Here.", calls=[GOOD]))) as provider, proxied(provider) as proxy:
        found = httpx.get(f"{proxy.url}/v1/responses/resp_1")
        assert GOOD.id not in found.text and "Here." in found.text
        streamed = httpx.get(f"{proxy.url}/v1/responses/resp_1?stream=true")
        assert error_of(streamed) == (400, "not_guarded")
        assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (lambda exchange: exchange.send(b"{}", status=404), 404),
        (lambda exchange: exchange.send(b"nonsense"), 502),
        (Exchange.hang_up, 502),
    ],
)
def test_a_stored_response_that_the_provider_does_not_give(
    behaviour: Behaviour, status: int
) -> None:
    with Provider(behaviour) as provider, proxied(provider) as proxy:
        assert httpx.get(f"{proxy.url}/v1/responses/resp_1").status_code == status


def test_a_call_whose_result_cannot_be_text_is_removed_without_a_round() -> None:
    call: dict[str, Any] = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "evil",
        "status": "completed",
    }
    call |= {"action": {"type": "type", "text": "evil"}, "pending_safety_checks": []}

    def behave(exchange: Exchange) -> None:
        answer = json.loads(whole(exchange.asked, Said("Hm.")))
        exchange.send(json.dumps({**answer, "output": [*answer["output"], call]}).encode())

    with Provider(behave, say(Said("Ok.", id="2"))) as provider, proxied(provider) as proxy:
        answer = post(proxy)
        assert len(provider.asked) == 1
        assert "computer_call" not in answer.text and "Not carried out" in answer.text
        post(proxy, input="Go on.", previous_response_id="resp_1")
        assert provider.asked[1].body["input"] == "Go on."


def test_calls_of_the_provider_with_one_id_get_one_result() -> None:
    twins = [EVIL, Call(EVIL.id, "read_file", "{}")]
    with Provider(Said(calls=twins), Said("Ok.", id="2")) as provider, proxied(provider) as proxy:
        assert EVIL.id not in post(proxy).text
        post(proxy, previous_response_id="resp_1")
        assert set(results(provider.asked[1])) == {EVIL.id}
