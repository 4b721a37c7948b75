"""POST /contentsafety/agent:analyzeTaskAdherence, by plain HTTP and through azure-core."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from azure.ai.contentsafety import ContentSafetyClient
from azure.core import PipelineClient
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import AzureKeyCredentialPolicy, RetryPolicy
from azure.core.pipeline.transport import RequestsTransport
from azure.core.rest import HttpRequest
from starlette.testclient import TestClient

from taskshield.core.assessments import Assessment
from taskshield.core.errors import JudgeUnavailable
from taskshield.core.judge import Judge, SessionView
from taskshield.core.messages import Message
from taskshield.core.store import Scope
from taskshield.judges.llm.judge import LLMJudge
from taskshield.stores.memory import MemoryStore
from tests.adapters.azure.test_task_adherence import GOLDEN, call, message, request
from tests.engine.sessions import run
from tests.judging import TableJudge
from tests.model import Rules
from tests.server.listening import in_thread
from tests.server.stage import Failing, Hanging, keyed, served

PATH = "/contentsafety/agent:analyzeTaskAdherence"
VERSION = "2025-09-15-preview"
EXAMPLES = sorted(GOLDEN.iterdir())
GOOD = request(
    message("User", "Read my notes."),
    message("Assistant", "Yes.", toolCalls=[call("read_file")]),
)
EVIL = request(
    message("User", "Read my notes."),
    message("Assistant", "Yes.", toolCalls=[call("send_money", '{"to": "evil"}')]),
)


def example(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def scripted(*misaligned: str) -> LLMJudge:
    """A judge for which calls of these tools never serve a task."""
    rules = Rules(serves=lambda text, task: float(not any(name in text for name in misaligned)))
    return LLMJudge(rules.client())


def judged(judge: TableJudge) -> int:
    """Number of messages that a judge checked, without those of the self-test."""
    return sum(not _of_self_test(message) for message in judge.seen)


def _of_self_test(message: Message) -> bool:
    return (
        "notes.txt" in message.text
        or "Tuesday" in message.text
        or any(call.arguments != "{}" for call in message.tool_calls)
    )


def posted(client: TestClient, body: Any, version: str | None = VERSION, **headers: str) -> Any:
    params = {} if version is None else {"api-version": version}
    return client.post(PATH, params=params, json=body, headers=headers)


def refusal(answer: Any) -> tuple[int, str]:
    """Status and code of an error in Azure's shape."""
    body = answer.json()
    assert set(body) == {"error"} and set(body["error"]) <= {"code", "message", "target"}
    assert answer.headers["x-ms-error-code"] == body["error"]["code"]
    assert answer.headers["x-ms-request-id"]
    return answer.status_code, body["error"]["code"]


@pytest.mark.shows("Azure Task Adherence", "user turn", "tool call")
@pytest.mark.parametrize("version", ["2024-12-15-preview", "2025-09-15-preview"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_azures_examples_get_the_answers_that_azure_gives(path: Path, version: str) -> None:
    given = example(path)
    with served(by=scripted(*given["misaligned"])) as client:
        answer = posted(client, given["request"], version)
        assert (answer.status_code, answer.json()) == (200, given["response"])
        assert answer.headers["x-ms-request-id"] and answer.headers["content-type"] == (
            "application/json"
        )


def test_scores_and_findings_are_sent_on_request() -> None:
    with served() as client:
        plain = posted(client, EVIL).json()
        assert set(plain) == {"taskRiskDetected", "details"} and plain["taskRiskDetected"]
        detailed = posted(client, EVIL, **{"x-taskshield-details": "true"}).json()
        assert {key: detailed[key] for key in plain} == plain
        newest = detailed["taskshield"]["decisions"][-1]
        assert newest["newest"] and newest["findings"][0]["score"] == 0
        record = client.get(f"/api/decisions/{newest['id']}").json()
        assert (record["surface"], record["action"]) == ("azure", newest["action"])


def test_known_messages_are_not_judged_again() -> None:
    judge = TableJudge()
    with served(by=judge) as client:
        first = posted(client, GOOD, **{"x-taskshield-details": "1"}).json()
        seen = judged(judge)
        longer = request(*GOOD["messages"], message("Tool", "milk", toolCallId="call_001"))
        second = posted(client, longer, **{"x-taskshield-details": "1"}).json()
        assert judged(judge) == seen + 1
        assert second["taskshield"]["decisions"][:2] == first["taskshield"]["decisions"]


@pytest.mark.parametrize(
    ("body", "code", "target"),
    [
        ({}, "InvalidRequestBody", "messages"),
        ([], "InvalidRequestBody", "body"),
        (request(message("User", "")), "InvalidRequestBody", "messages[0].contents"),
        (request(message("Boss", "canary")), "InvalidRequestBody", "messages[0].role"),
        (request(message("User", "x" * 100_001)), "InvalidRequestBody", "messages"),
    ],
)
def test_an_invalid_body_is_refused_with_its_path(body: object, code: str, target: str) -> None:
    with served() as client:
        answer = posted(client, body)
        assert refusal(answer) == (400, code)
        assert answer.json()["error"]["target"] == target and "canary" not in answer.text


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b"[" * 100_000, b'{"messages": NaN}'])
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_a_body_that_is_not_json_is_refused(content: bytes, kind: str) -> None:
    with served() as client:
        answer = client.post(
            PATH, params={"api-version": VERSION}, content=content, headers={"content-type": kind}
        )
        assert refusal(answer) == (400, "InvalidRequestBody")


def test_unknown_versions_are_refused_in_azures_words() -> None:
    with served() as client:
        assert refusal(posted(client, GOOD, None)) == (400, "MissingApiVersionParameter")
        answer = posted(client, GOOD, "2023-10-01")
        assert refusal(answer) == (400, "UnsupportedApiVersionValue")
        assert "2024-12-15-preview" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", PATH, (405, "InvalidRequest")),
        ("POST", "/contentsafety/text:analyze", (404, "404")),
        ("GET", "/contentsafety", (404, "404")),
    ],
)
def test_other_paths_get_azures_errors(method: str, path: str, expected: tuple[int, str]) -> None:
    with served() as client:
        assert refusal(client.request(method, path)) == expected


def test_limits_get_azures_errors() -> None:
    with served(limits={"body_bytes": 100, "messages": 1}) as client:
        assert refusal(posted(client, GOOD)) == (413, "InvalidRequestBody")
    with served(limits={"messages": 1}) as client:
        assert refusal(posted(client, GOOD)) == (413, "InvalidRequestBody")
    with served(by=Hanging(), limits={"request_s": 0.05}) as client:
        answer = posted(client, GOOD)
        assert refusal(answer) == (504, "ServerBusy") and answer.headers["retry-after"] == "1"


def with_key(*scopes: Scope, **more: Any) -> tuple[MemoryStore, str]:
    store = MemoryStore()
    return store, run(keyed(store, *scopes, **more))


def test_a_key_comes_in_azures_header_or_as_a_bearer_token() -> None:
    store, key = with_key("check")
    with served(store) as client:
        for name, value in (("Ocp-Apim-Subscription-Key", key), ("Authorization", f"Bearer {key}")):
            assert posted(client, GOOD, **{name: value}).json() == {"taskRiskDetected": False}
        for headers in ({}, {"Ocp-Apim-Subscription-Key": "tsk_wrong"}):
            answer = posted(client, GOOD, **headers)
            assert refusal(answer) == (401, "401")
            assert answer.json()["error"]["message"].startswith("Access denied due to invalid")


def test_a_key_without_the_scope_is_forbidden() -> None:
    store, key = with_key("proxy")
    with served(store, key=key) as client:
        assert refusal(posted(client, GOOD)) == (403, "Forbidden")


def test_tenants_do_not_share_conversations() -> None:
    store, ours = with_key("check", tenant="ours")
    theirs = run(keyed(store, "check", tenant="theirs"))
    judge = TableJudge()
    with served(store, by=judge) as client:
        for key in (ours, theirs):
            posted(client, GOOD, **{"x-taskshield-key": key})
    assert judged(judge) == 4


def test_too_many_requests_get_a_retry_after() -> None:
    store, key = with_key("check", per_minute=1)
    with served(store, key=key) as client:
        posted(client, GOOD)
        answer = posted(client, GOOD)
        assert refusal(answer) == (429, "TooManyRequests")
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert len(answer.headers.get_list("retry-after")) == 1


def test_an_outage_is_never_reported_as_no_risk_and_ends_with_the_judges_return() -> None:
    judge = TableJudge()
    with served(by=judge) as client:
        judge.error = JudgeUnavailable("down")
        for _ in range(2):
            answer = posted(client, GOOD)
            assert refusal(answer) == (503, "ServerBusy") and answer.headers["retry-after"] == "1"
        judge.error = None
        assert posted(client, GOOD).json() == {"taskRiskDetected": False}
        seen = judged(judge)
        assert posted(client, GOOD).json() == {"taskRiskDetected": False}
        assert judged(judge) == seen


def test_an_unavailable_store_is_reported_as_busy() -> None:
    store = Failing()
    with served(store) as client:
        store.breaking = 1
        answer = posted(client, GOOD)
        assert refusal(answer) == (503, "ServerBusy") and "disk" not in answer.text
        assert posted(client, GOOD).json() == {"taskRiskDetected": False}


def test_an_exception_in_a_handler_is_an_internal_error() -> None:
    class Broken(MemoryStore):
        async def commit(self, *given: Any, **more: Any) -> None:
            raise ZeroDivisionError("canary")

    with served(Broken()) as client:
        answer = posted(client, GOOD)
        assert refusal(answer) == (500, "InternalError") and "canary" not in answer.text


def test_an_unpaired_surrogate_does_not_break_the_response() -> None:
    body = json.dumps(EVIL).replace("evil", "evil \\ud83d")
    with served() as client:
        answer = client.post(
            PATH,
            params={"api-version": VERSION},
            content=body,
            headers={"content-type": "application/json", "x-taskshield-details": "true"},
        )
        assert answer.json()["taskRiskDetected"] and answer.content.isascii()


class Waits(RequestsTransport):  # type: ignore[misc]  # azure-core loads it lazily, untyped
    """azure-core's own transport, which records how long it should sleep."""

    def __init__(self) -> None:
        super().__init__(use_env_settings=False)
        self.slept: list[float] = []

    def sleep(self, duration: float) -> None:
        self.slept.append(duration)


class Stumbling(TableJudge):
    """A judge that fails at the first check of each step."""

    async def assess(self, message: Message, view: SessionView) -> Assessment:
        stumbles = judged(self) == 1 and not _of_self_test(message)
        self.error = JudgeUnavailable("down") if stumbles else None
        return await super().assess(message, view)


@contextmanager
def sdk(judge: Judge, **limits: Any) -> Iterator[tuple[ContentSafetyClient, Waits]]:
    """Azure's own client of a server that listens."""
    store, key = with_key("check", **limits)
    waits = Waits()
    with (
        in_thread(judge, store) as server,
        ContentSafetyClient(
            server.url, AzureKeyCredential(key), transport=waits, retry_total=2
        ) as client,
    ):
        yield client, waits


def asked(body: Any) -> HttpRequest:
    """A request as azure-core sends it for operations without an SDK method."""
    return HttpRequest(
        "POST", "/agent:analyzeTaskAdherence", params={"api-version": VERSION}, json=body
    )


def test_azures_examples_through_azures_client() -> None:
    examples = [example(path) for path in EXAMPLES]
    wrong = [name for given in examples for name in given["misaligned"]]
    with sdk(scripted(*wrong)) as (client, _):
        for given in examples:
            answer = client.send_request(asked(given["request"]))
            answer.raise_for_status()
            assert answer.json() == given["response"]


def test_azures_client_tries_again_after_an_outage() -> None:
    judge = Stumbling()
    with sdk(judge) as (client, waits):
        answer = client.send_request(asked(GOOD))
    assert answer.json() == {"taskRiskDetected": False} and waits.slept == [1]


def test_azures_client_waits_for_the_retry_after() -> None:
    with sdk(TableJudge(), per_minute=1) as (client, waits):
        assert client.send_request(asked(GOOD)).status_code == 200
        answer = client.send_request(asked(GOOD))
        with pytest.raises(HttpResponseError) as raised:
            answer.raise_for_status()
    assert raised.value.status_code == 429 and waits.slept and min(waits.slept) > 1


@pytest.mark.parametrize(
    ("body", "key", "code"), [({}, None, "InvalidRequestBody"), (GOOD, "tsk_wrong", "401")]
)
def test_azure_core_reads_our_errors(body: Any, key: str | None, code: str) -> None:
    store, good = with_key("check")
    with (
        in_thread(TableJudge(), store) as server,
        PipelineClient[HttpRequest, Any](
            f"{server.url}/contentsafety",
            policies=[
                RetryPolicy(),
                AzureKeyCredentialPolicy(
                    AzureKeyCredential(good if key is None else key), "Ocp-Apim-Subscription-Key"
                ),
            ],
            transport=Waits(),
        ) as client,
    ):
        answer = client.send_request(
            HttpRequest("POST", client.format_url(asked(body).url), json=body)
        )
        error = HttpResponseError(response=answer)
    assert error.error is not None and error.error.code == code
    assert answer.headers["x-ms-error-code"] == code


def test_the_colon_of_the_path_may_be_written_in_two_ways() -> None:
    with in_thread(TableJudge(), MemoryStore()) as server:
        for path in (PATH, PATH.replace(":", "%3A")):
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request(
                "POST",
                f"{path}?api-version={VERSION}",
                json.dumps(GOOD),
                {"Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            assert (answer.status, json.loads(answer.read())) == (200, {"taskRiskDetected": False})
            connection.close()
