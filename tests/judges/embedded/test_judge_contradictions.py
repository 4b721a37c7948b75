"""The embedded judge says what a call does against the user's words."""

from tests.judges.embedded.asking import a_view, assessed, calling
from tests.judges.embedded.scenes import PAID, USER, call
from tests.judges.embedded.scripted_model import ScriptedModel


def test_a_contradiction_names_the_task_and_quotes_both_sides() -> None:
    asked = call("send_mail", to="tom@harb0ur.example", body="Dear Tom, the bill is paid.")
    (found,) = assessed(ScriptedModel(serves=lambda *_: 9.0), calling(asked), a_view(asked))
    (one,) = found.contradictions
    assert (one.kind, one.said, one.does) == (
        "recipient",
        "tom@harbour.example",
        "to: tom@harb0ur.example",
    )
    assert one.said in USER
    assert one.target in {score.target for score in found.scores}


def test_a_call_that_was_asked_for_contradicts_nothing() -> None:
    (found,) = assessed(ScriptedModel(), calling(PAID), a_view(PAID))
    assert found.contradictions == ()
