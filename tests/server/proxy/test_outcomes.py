"""What clients learn about the checks, and answers with several choices."""

import json
import re
from typing import Any

import httpx
import pytest

from taskshield.stores.memory import MemoryStore
from tests.adapters.proxy.streams import Said
from tests.server.listening import Listening
from tests.server.providers.scripted import Exchange, Provider, streamed, whole
from tests.server.proxy.stage import EVIL, GOOD, INJECTED, TASK, proxied
from tests.server.proxy.test_faults import WIRES, request
from tests.server.proxy.test_guarding import sessions

CHAT = "/v1/chat/completions"


def told(text: str) -> dict[str, str]:
    """The values in the comment of a stream."""
    (comment,) = re.findall(r"^: taskshield (.*)\n\n", text, re.MULTILINE)
    return dict(pair.split("=") for pair in comment.split(" "))


@WIRES
@pytest.mark.parametrize(("calls", "verdict"), [([GOOD], "allow"), ([EVIL], "block")])
def test_headers_report_decision_verdict_and_time(path: str, calls: Any, verdict: str) -> None:
    with Provider(Said("Hm.", calls)) as provider, proxied(provider, policy={"rounds": 0}) as it:
        answer = httpx.post(it.url + path, json=request(path, streams=False))
        headers = answer.headers
        decision = httpx.get(
            f"{it.url}/api/decisions/{headers['x-taskshield-decision']}", headers=it.owner
        ).json()
        assert (decision["action"], headers["x-taskshield-verdict"]) == (verdict, verdict)
        assert decision["session"] == headers["x-taskshield-session"]
        assert float(headers["x-taskshield-time-ms"]) > 0


@WIRES
def test_a_changed_stream_reports_them_in_a_comment(path: str) -> None:
    with Provider(Said("Hm.", [EVIL])) as provider, proxied(provider, policy={"rounds": 0}) as it:
        answer = httpx.post(it.url + path, json=request(path, streams=True))
        found = told(answer.text)
        decision = httpx.get(f"{it.url}/api/decisions/{found['decision']}", headers=it.owner).json()
        assert decision["session"] == found["session"]
        assert (found["verdict"], decision["action"]) == ("block", "block")


def choices(exchange: Exchange) -> None:
    """One good choice and one evil one, streamed or not."""
    if not exchange.asked.body["stream"]:
        good, evil = (
            json.loads(whole(exchange.asked, Said("Hm.", [call]))) for call in (GOOD, EVIL)
        )
        second = {**evil["choices"][0], "index": 1}
        both = {**good, "choices": [good["choices"][0], second]}
        exchange.send(json.dumps(both).encode())
        return
    exchange.stream()
    good_events = streamed(exchange.asked, Said("Hm.", [GOOD]))
    evil_events = streamed(exchange.asked, Said("Hm.", [EVIL]))
    for good, evil in zip(good_events[:-2], evil_events[:-2], strict=True):
        exchange.push(good, evil.replace(b'"index": 0, "delta"', b'"index": 1, "delta"'))
    exchange.push(*good_events[-2:])
    exchange.end()


@pytest.mark.parametrize("streams", [False, True])
def test_each_of_several_choices_is_judged_by_itself(streams: bool) -> None:
    with Provider(choices) as provider, proxied(provider) as proxy:
        answer = httpx.post(proxy.url + CHAT, json={**request(CHAT, streams=streams), "n": 2})
        assert len(provider.asked) == 1
        assert GOOD.id in answer.text and EVIL.id not in answer.text
        assert answer.text.count("Not carried out") == 1
        assert len(sessions(proxy.url)) == 2


def test_an_answer_without_any_choice_passes() -> None:
    with Provider(lambda exchange: exchange.send(b'{"choices": []}')) as it, proxied(it) as proxy:
        answer = httpx.post(proxy.url + CHAT, json=request(CHAT, streams=False))
        assert answer.content == b'{"choices": []}'
        assert "x-taskshield-verdict" not in answer.headers


def test_secrets_and_keys_are_stored_nowhere() -> None:
    secret = "sk-proj-a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0"
    store = MemoryStore()
    output = f"{INJECTED} The key is {secret}."
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": TASK},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": output},
    ]
    with (
        Provider(Said("Done.")) as provider,
        proxied(provider, store=store) as first,
        proxied(provider, store=store) as second,
    ):
        for proxy in (first, second):
            ask(proxy, messages, secret)
        seen = [asked.body["messages"][2]["content"] for asked in provider.asked]
        assert all(text.startswith(output) and "[Task Shield" in text for text in seen)
        assert provider.asked[0].headers["authorization"] == f"Bearer {secret}"
    assert secret not in repr(vars(store))


def ask(proxy: Listening, messages: list[dict[str, Any]], key: str) -> None:
    headers = {"authorization": f"Bearer {key}", "x-taskshield-session": "mine"}
    body = {"model": "m", "messages": messages}
    assert httpx.post(proxy.url + CHAT, json=body, headers=headers).status_code == 200
