import pytest

from taskshield_lab.training.augmentation.labelled_spans import SpanMarkers


def test_spans_survive_rewriting_and_are_trimmed() -> None:
    marks: SpanMarkers[str] = SpanMarkers()
    text = "a " + marks.mark(" b c ", "x") + "d " + marks.mark(" ", "blank")
    bare, found = marks.extract(text.replace("b c", "B\\nC").upper())
    assert [bare[one.start : one.end] for one in found] == ["B\\NC"]


def test_every_occurrence_is_found_the_longer_sentence_first() -> None:
    marks: SpanMarkers[str] = SpanMarkers()
    text = marks.mark_all("Go now. Go now, please. Go", ["Go now", "Go now, please."], "x")
    bare, found = marks.extract(text)
    assert sorted(bare[one.start : one.end] for one in found) == [
        "Go now",
        "Go now",
        "Go now, please.",
    ]


def test_a_span_that_lost_an_end_is_left_out() -> None:
    marks: SpanMarkers[str] = SpanMarkers()
    assert marks.extract(marks.mark("abc", "x")[:-1]) == ("abc", ())


def test_there_is_an_end_to_marks() -> None:
    marks: SpanMarkers[str] = SpanMarkers()
    with pytest.raises(ValueError, match="too many"):
        for _ in range(5000):
            marks.mark("a", "x")
