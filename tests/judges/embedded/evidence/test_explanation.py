import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.messages import ToolCall
from taskshield.judges.embedded.evidence.explanation import explained_share


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(id="1", name=name, arguments=json.dumps(arguments))


MAIL = call("send_email", to="zed@gulls.example", subject="Crane keys", copies=2)


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("Please send an e-mail to zed@gulls.example about the crane keys.", 1.0, 1.0),
        ("Zed (zed@gulls.example) sends his regards.", 0.5, 0.5),
        ("The crane keys are in the shed.", 0.5, 0.0),
        ("Nothing of it, 2 times.", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_share_of_values_and_of_the_name(text: str, values: float, words: float) -> None:
    found = explained_share(MAIL, text)
    assert (found.value_share, found.word_share) == (values, words)
    assert found.share == (values + words) / 2


@pytest.mark.parametrize(
    "name", ["scheduleMeeting", "calendar.schedule-meeting", "ScheduleMEETING"]
)
def test_names_are_split_into_words(name: str) -> None:
    assert explained_share(call(name), "Scheduling meetings on the calendar").word_share == 1


def test_a_call_without_evidence_is_not_explained() -> None:
    found = explained_share(call("x", n=1), "x 1")
    assert (found.value_share, found.word_share, found.share) == (0, 0, 0)


@given(st.text(), st.text(), st.text())
def test_shares_are_shares(name: str, value: str, text: str) -> None:
    assert 0 <= explained_share(call(name, a=value), text).share <= 1
