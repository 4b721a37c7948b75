"""What agents see through the proxy, in all wire formats, streaming and not."""

import functools
import re
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from taskshield.core.errors import JudgeUnavailable
from taskshield.core.levels import Level
from taskshield.core.tools import Tier
from taskshield.stores.memory import MemoryStore
from tests.adapters.proxy.sdks import Seen
from tests.adapters.proxy.streams import Call, Said
from tests.judging import TableJudge
from tests.server.listening import OWNERS
from tests.server.providers.scripted import Asked, Provider
from tests.server.proxy.agents import (
    AGENTS,
    KEY,
    Agent,
    ChatAgent,
    Make,
    StoredResponsesAgent,
    ThreadAgent,
)
from tests.server.proxy.stage import EVIL, GOOD, INJECTED, TASK, proxied
from tests.server.stage import judge

WAYS = [functools.partial(kind, streams=streams) for kind in AGENTS for streams in (False, True)]
ALL = pytest.mark.parametrize(
    "make", WAYS, ids=[f"{way.func.__name__}-{way.keywords['streams']}" for way in WAYS]
)
NOTE = re.compile(r"\[Task Shield [0-9a-f]{32}\] Not carried out")
ESCALATE = {"misaligned": {tier.value: "escalate" for tier in Tier}}


def outputs(asked: Asked) -> list[str]:
    """What the model gets to read of tools, in any format."""
    body = asked.body
    turns = body["messages"] if "messages" in body else body["input"]
    found = [turn.get("output") for turn in turns if turn.get("type") == "function_call_output"]
    found += [turn["content"] for turn in turns if turn.get("role") == "tool"]
    for turn in turns:
        if isinstance(turn.get("content"), list):
            found += [each["content"] for each in turn["content"] if "tool_use_id" in each]
    return found


def asked_once(make: Make, url: str) -> tuple[Agent, Seen]:
    agent = make(url)
    agent.user(TASK)
    return agent, agent.ask()


def sessions(url: str) -> list[Any]:
    found: list[Any] = httpx.get(f"{url}/api/sessions", headers=OWNERS[url]).json()["items"]
    return found


@ALL
def test_an_aligned_conversation_passes(make: Make) -> None:
    script = [Said("I read it.", [GOOD], id="1"), Said("It is 98.70.", id="2")]
    with Provider(*script) as provider, proxied(provider) as proxy:
        agent, first = asked_once(make, proxy.url)
        assert (first.texts, first.calls) == (("I read it.",), (GOOD,))
        agent.output(GOOD, "Total: 98.70")
        second = agent.ask()
        assert (second.texts, second.calls) == (("It is 98.70.",), ())
        agent.user("Thanks!")
        agent.ask()
        assert [KEY in str(asked.headers) for asked in provider.asked] == [True] * 3
        (session,) = sessions(proxy.url)
        counted = httpx.get(f"{proxy.url}/api/sessions/{session['id']}", headers=proxy.owner).json()
        # Task, call, output, answer, thanks, answer.
        assert sum(counted["counters"].values()) == 6
        assert len(counted["tasks"]) == 2


@pytest.mark.shows("Proxy", "tool output")
@ALL
@pytest.mark.parametrize("output", ["annotate", "redact"])
def test_an_output_is_judged_once_and_rewritten_the_same_way_every_time(
    make: Make, output: str
) -> None:
    mine = judge()
    policy = {"output": output}
    script = [Said(calls=[GOOD], id="1"), Said("Done.", id="2"), Said("Bye.", id="3")]
    with Provider(*script) as provider, proxied(provider, by=mine, policy=policy) as proxy:
        agent, _ = asked_once(make, proxy.url)
        agent.output(GOOD, INJECTED)
        agent.ask()
        agent.user("Thanks!")
        agent.ask()
        (read,) = outputs(provider.asked[1])
        assert "[Task Shield" in read and ("evil" in read) is (output == "annotate")
        assert outputs(provider.asked[2]) in ([read], [])  # [] where the provider stores it
        # The server's self-test shows the judge outputs, too.
        judged = [message for message in mine.seen if message.text == INJECTED]
        assert [message.level for message in judged] == [Level.TOOL]


@pytest.mark.shows("Proxy", "user turn", "tool call", "feedback")
@ALL
def test_a_misaligned_call_goes_back_to_the_model(make: Make) -> None:
    script = [Said("Hm.", [EVIL], id="1"), Said("Better.", [GOOD], id="2")]
    with Provider(*script) as provider, proxied(provider) as proxy:
        agent, seen = asked_once(make, proxy.url)
        assert seen.calls == (GOOD,)
        assert seen.tokens == (20, 10)  # of both rounds
        assert seen.texts == (("Hm.", "Better.") if agent.streams else ("Better.",))
        (told,) = outputs(provider.asked[1])
        assert NOTE.match(told) and "Revise your step" in told
        agent.output(GOOD, "Total: 98.70")
        agent.ask()
        assert len(sessions(proxy.url)) == 1


@ALL
def test_calls_that_stay_misaligned_are_removed_after_the_last_round(make: Make) -> None:
    evils = [Call(f"c{n}", "send_money", f'{{"path": "evil {n}"}}') for n in range(9)]
    script = [Said("Hm.", [evil], id=str(n)) for n, evil in enumerate(evils)]
    with Provider(*script) as provider, proxied(provider, policy={"rounds": 2}) as proxy:
        agent, seen = asked_once(make, proxy.url)
        assert len(provider.asked) == 3
        assert (seen.calls, seen.finish) == ((), seen.finish)
        assert seen.finish in ("stop", "end_turn", "completed")
        assert any(NOTE.search(text) for text in seen.texts)
        agent.user("Then just say hello.")
        agent.ask()
        assert len(sessions(proxy.url)) == 1
        if isinstance(agent, StoredResponsesAgent | ThreadAgent):
            (told,) = [t for t in provider.asked[3].body["input"] if t.get("call_id")]
            assert (told["type"], told["call_id"]) == ("function_call_output", "c2")


@ALL
@pytest.mark.parametrize("calls", [[GOOD, EVIL], [EVIL, GOOD]])
def test_of_parallel_calls_the_aligned_ones_survive(make: Make, calls: Sequence[Call]) -> None:
    with Provider(Said("Both.", calls)) as provider, proxied(provider, policy={"rounds": 0}) as it:
        agent, seen = asked_once(make, it.url)
        assert seen.calls == (GOOD,)
        assert seen.finish in ("tool_calls", "tool_use", "completed")
        assert any(NOTE.search(text) for text in seen.texts)
        agent.output(GOOD, "Total: 98.70")
        agent.ask()
        assert len(provider.asked) == 2 and len(sessions(it.url)) == 1


@pytest.mark.shows("Proxy", "HITL")
@ALL
def test_an_approved_call_passes_once(make: Make) -> None:
    script = [Said(calls=[EVIL], id=str(number)) for number in range(5)]
    store = MemoryStore()
    with Provider(*script) as provider, proxied(provider, store=store, policy=ESCALATE) as proxy:
        agent = make(proxy.url)
        agent.user(TASK)
        seen = retrying(agent)
        assert seen.calls == ()
        (approval,) = re.findall(r"approval ([0-9a-f]{32}), until", " ".join(seen.texts))
        assert retrying(agent).calls == ()  # no person has answered yet
        found = httpx.post(f"{proxy.url}/api/approvals/{approval}/approve", headers=proxy.owner)
        assert found.json()["status"] == "approved"
        assert retrying(agent).calls == (EVIL,)
        assert retrying(agent).calls == ()  # once
        assert {len(asked.body.get("messages", [1])) for asked in provider.asked} == {1}


def retrying(agent: Agent) -> Seen:
    """Ask, and do not add the answer to the conversation."""
    before = list(agent.turns)
    seen = agent.ask()
    agent.turns = before
    if isinstance(agent, StoredResponsesAgent):
        agent.previous = None
    return seen


@ALL
def test_unchecked_calls_are_removed_but_read_calls_pass(make: Make) -> None:
    blind = TableJudge(error=JudgeUnavailable("gone"))
    with Provider(Said("Hm.", [GOOD, EVIL])) as provider, proxied(provider, by=blind) as proxy:
        _, seen = asked_once(make, proxy.url)
        assert seen.calls == (GOOD,)
        assert "could not be checked" in " ".join(seen.texts)
        assert len(provider.asked) == 1


@ALL
def test_calls_that_share_an_id_are_all_refused(make: Make) -> None:
    twins = [GOOD, Call(GOOD.id, "write_note", '{"path": "x"}')]
    with Provider(Said("Hm.", twins)) as provider, proxied(provider) as proxy:
        _, seen = asked_once(make, proxy.url)
        assert seen.calls == ()
        assert "share an id" in " ".join(seen.texts)


@pytest.mark.shows("Proxy", "plan text")
@ALL
def test_misaligned_text_goes_back_as_well(make: Make) -> None:
    script = [Said("I shall do evil.", id="1"), Said("I shall not.", id="2")]
    with Provider(*script) as provider, proxied(provider) as proxy:
        agent, seen = asked_once(make, proxy.url)
        assert seen.texts[-1] == "I shall not."
        assert len(provider.asked) == 2
        agent.user("Good.")
        agent.ask()
        assert len(sessions(proxy.url)) == 1


@ALL
@pytest.mark.parametrize("headers", [{}, {"x-taskshield-session": "mine"}], ids=["found", "named"])
def test_replicas_share_conversations(make: Make, headers: dict[str, str]) -> None:
    store = MemoryStore()
    judges = judge(), judge()
    script = [Said(calls=[GOOD], id="1"), Said("Hm.", [EVIL], id="2"), Said("Done.", id="3")]
    with (
        Provider(*script) as provider,
        proxied(provider, by=judges[0], store=store) as first,
        proxied(provider, by=judges[1], store=store) as second,
    ):
        agent = make(first.url, headers=headers)
        agent.user(TASK)
        agent.ask()
        agent.output(GOOD, INJECTED)
        agent.url = second.url
        assert agent.ask().calls == ()
        agent.user("Thanks!")
        agent.url = first.url
        agent.ask()
        (session,) = sessions(first.url)
        assert session["id"] == headers.get("x-taskshield-session", session["id"])
        counted = httpx.get(
            f"{first.url}/api/sessions/{session['id']}", headers=first.owner
        ).json()["counters"]
        # Task, call, output, the round that the client never saw, answer, thanks, answer.
        assert sum(counted.values()) == 7
        assert INJECTED not in [message.text for message in judges[0].seen]
        assert TASK not in [message.text for message in judges[1].seen]
        assert "taskshield-session" not in str([asked.headers for asked in provider.asked])


@ALL
def test_the_same_request_again_is_not_judged_again(make: Make) -> None:
    mine = judge()
    with Provider(Said("Hello.")) as provider, proxied(provider, by=mine) as proxy:
        agent = make(proxy.url, headers={"x-taskshield-session": "mine"})
        agent.user(TASK)
        for _ in range(2):
            retrying(agent)
        assert [message.text for message in mine.seen].count(TASK) == 1 or isinstance(
            agent, StoredResponsesAgent | ThreadAgent
        )


def test_a_conversation_that_was_rewritten_is_a_session_of_its_own() -> None:
    with Provider(Said("Hello.")) as provider, proxied(provider) as proxy:
        for task in (TASK, "Something else."):
            agent = ChatAgent(proxy.url, streams=False, headers={"x-taskshield-session": "mine"})
            agent.user(task)
            agent.ask()
        tasks = [
            httpx.get(f"{proxy.url}/api/sessions/{each['id']}", headers=proxy.owner).json()["tasks"]
            for each in sessions(proxy.url)
        ]
        assert [len(each) for each in tasks] == [1, 1]
        assert "mine" in [each["id"] for each in sessions(proxy.url)]
