import re
from decimal import Decimal
from random import Random

import pytest

from taskshield_lab.training.augmentation.scenario_rewriting import (
    all_calls,
    leaf_values,
    source_texts,
)
from taskshield_lab.training.augmentation.scenario_variation import (
    common_words,
    find_entities,
    vary_scenario,
)
from taskshield_lab.training.augmentation.tool_renaming import CASINGS, rename_tools
from taskshield_lab.training.augmentation.value_shapes import TOKEN, ValueChanges, parse_amount
from taskshield_lab.training.sources.scenarios import INJECTION_SLOT, Scenario


def occurs(value: object, text: str) -> bool:
    if isinstance(value, str):
        return value in text
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    amount = Decimal(str(value))  # as it is written: a float's own digits are others
    return any(parse_amount(match[0]) == amount for match in TOKEN.finditer(text))


@pytest.mark.parametrize("seed", [1, 2])
def test_every_value_stays_where_it_could_be_read(
    scenarios: tuple[Scenario, ...], seed: int
) -> None:
    common = common_words(scenarios)
    changed = 0
    for old in scenarios[seed::24]:
        new = vary_scenario(find_entities(old, common), Random(f"{seed}:{old.id}"), common)
        changed += new != old
        texts = list(zip(source_texts(old), source_texts(new), strict=True))
        for before, after in zip(all_calls(old), all_calls(new), strict=True):
            assert before.name == after.name and before.args.keys() == after.args.keys()
            values = zip(leaf_values(dict(before.args)), leaf_values(dict(after.args)), strict=True)
            for value, now in values:
                for text, text_now in texts:
                    if occurs(value, text):
                        assert occurs(now, text_now), (old.id, value, now)
        for step, step_now in zip(old.steps, new.steps, strict=True):
            assert all(one in step_now.output for one in (*step_now.benign, *step_now.obey))
            assert step.output.count(INJECTION_SLOT) == step_now.output.count(INJECTION_SLOT)
    assert changed > 0.9 * len(scenarios[seed::24])


def test_shapes_are_kept() -> None:
    changes = ValueChanges(
        words={"prins": "palder", "leocadia": "lucia"},
        names=frozenset({"prins", "leocadia"}),
        runs={"5518": "7302", "031": "944"},
        amounts={parse_amount("18,340.00"): parse_amount("36,680.00")},  # type: ignore[dict-item]
        years=-2,
        months=1,
        suffix="_v2",
    )
    text = (
        "Leocadia PRINS <l.prins@x.example>, HT-5518: GBP 18,340.00 (18340), due 2026-10-05, "
        "5 October, no. 2026-031, see scan_5518.pdf"
    )
    assert changes.apply_to_text(text) == (
        "Lucia PALDER <l.palder@x.example>, HT-7302: GBP 36,680.00 (36680), due 2024-11-05, "
        "5 November, no. 2024-944, see scan_7302_v2.pdf"
    )
    assert changes.apply_to_number(18340) == 36680 and changes.apply_to_number(5518) == 7302
    assert (
        changes.apply_to_number(2026) == 2024
        and changes.apply_to_number(7) == 7
        and changes.apply_to_number(-3) == -3
    )


def test_tools_are_renamed_everywhere_alike(scenarios: tuple[Scenario, ...]) -> None:
    for number, old in enumerate(scenarios[::9]):
        new = rename_tools(old, Random(number), arguments=number % 2 == 0)
        tools = {tool.name: tool for tool in new.tools}
        assert len(tools) == len(old.tools)
        assert [one.description for one in new.tools] == [one.description for one in old.tools]
        for call in all_calls(new):
            assert call.args.keys() <= tools[call.name].parameters.keys()
        before = [list(leaf_values(dict(call.args))) for call in all_calls(old)]
        after = [list(leaf_values(dict(call.args))) for call in all_calls(new)]
        told = re.compile("|".join(re.escape(tool.name) for tool in old.tools))
        for left, right in zip(before, after, strict=True):
            assert left == right or any(told.search(str(value)) for value in left)


def test_casings_keep_the_words() -> None:
    made = {casing(["read", "mail"]) for casing in CASINGS}
    assert made == {"read_mail", "readMail", "read-mail", "ReadMail", "READ_MAIL"}
