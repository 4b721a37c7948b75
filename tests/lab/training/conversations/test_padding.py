import json
from random import Random

import pytest

from taskshield.core.messages import Json
from taskshield_lab.training.augmentation.labelled_spans import SpanMarkers, SpanTag
from taskshield_lab.training.conversations import output_formats
from taskshield_lab.training.conversations.padding import (
    NoiseMaterial,
    add_imperatives,
    gather_noise,
    lengthen,
)
from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Scenario


@pytest.fixture(scope="module")
def material(scenarios: tuple[Scenario, ...]) -> NoiseMaterial:
    return gather_noise(scenarios[:80])


def test_material_has_no_places_and_knows_its_imperatives(material: NoiseMaterial) -> None:
    pieces = [one for pool in material.paragraphs.values() for one in pool]
    assert pieces and not any(INJECTION_SLOT in one.text for one in pieces)
    assert all(sentence in one.text for one in pieces for sentence in one.benign)


@pytest.mark.parametrize("text", ["plain\nlines", '{"a": 1}', "[1]", "<p>hello</p>"])
def test_noise_lengthens_an_output_and_keeps_it(
    scenarios: tuple[Scenario, ...], material: NoiseMaterial, text: str
) -> None:
    english = next(one for one in scenarios if one.lang == "en")
    for seed in range(20):
        marks: SpanMarkers[SpanTag] = SpanMarkers()
        rng = Random(seed)
        long = lengthen(text, english, material, marks, rng, size=1000)
        long = add_imperatives(long, english, material, marks, rng, count=2)
        bare, spans = marks.extract(long)
        assert len(bare) > 1000 and len(spans) >= 1
        assert all(bare[one.start : one.end].strip() for one in spans)
        if text[0] in "{[":
            json.loads(bare)
        else:
            assert text.splitlines()[0] in bare


def test_without_material_nothing_is_added(scenarios: tuple[Scenario, ...]) -> None:
    nothing = NoiseMaterial(paragraphs={}, tools=())
    marks: SpanMarkers[SpanTag] = SpanMarkers()
    text = lengthen("a", scenarios[0], nothing, marks, Random(1), size=99)
    assert add_imperatives(text, scenarios[0], nothing, marks, Random(1), count=3) == "a"


def test_formats_keep_the_data() -> None:
    first: Json = {"id": 1, "note": "do it", "tags": ["a", {"b": None}]}
    value: Json = [first, {"id": 2, "note": "x\ny"}]
    for change in (
        output_formats.yaml_lines,
        output_formats.plain_lines,
        output_formats.markdown_table,
    ):
        assert "do it" in change(value) and "x y" in change(value)
    assert "<dd>do it</dd>" in output_formats.html_list(first)
    assert json.loads(output_formats.indented(value)) == value
    assert output_formats.markdown_table([1, 2]) == "[0]: 1\n[1]: 2"
    assert json.loads(output_formats.as_list_of_lines("a\n\nb"))["lines"] == ["a", "b"]
    seen = {output_formats.reformat("a < b\nc", Random(seed)) for seed in range(60)}
    assert len(seen) == 7 and all("c" in text for text in seen)
    assert output_formats.reformat("<p>x</p>", Random(1)) == "<p>x</p>"
