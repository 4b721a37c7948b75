"""Long texts are redacted in steps, with the result that they would have in one."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.stores.secrets import stepwise
from taskshield.stores.secrets.key_shapes import key_pattern
from taskshield.stores.secrets.patterns import secrets
from taskshield.stores.secrets.redaction import redacted, redacted_state

RANDOM = "a1B2c3D4e5F6g7H8i9J0" * 3
BITS = (
    *("word ", "password", "=", "hunter2", ": ", '"', "'", "\\", "{", "}", "[", "]", ",", "\n"),
    *(f"sk-{RANDOM}", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----", "abc"),
    *(
        "token",
        f"Bearer {RANDOM}",
        "://u:pw@h/",
        "12",
        "-3e5",
        "İ",
        "Σ",
        "😀",
        "\u2028",
        " ",
        "null",
    ),
    *(f"AKIA{'ABCDEFGH' * 2}", "x" * 300, "apiKey", "\\n", '\\"', "\\u00e9", "\\ud83d\\ude00"),
)
TEXTS = st.lists(st.sampled_from(BITS), max_size=40).map("".join)
VALUES = st.recursive(
    TEXTS | st.sampled_from([1, -2.5e9, None, True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["password", "text", "token", "a"]) | TEXTS, inner, max_size=3
        )
    ),
    max_leaves=6,
)


def in_steps(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    monkeypatch.setattr(stepwise, "_STEP", step)


@given(TEXTS | VALUES.map(json.dumps), st.sampled_from([16, 50, 300]))
def test_a_text_is_redacted_alike_in_steps_of_any_length(text: str, step: int) -> None:
    whole = redacted(text), redacted_state(json.dumps({"text": text}))
    with pytest.MonkeyPatch.context() as monkeypatch:
        in_steps(monkeypatch, step)
        assert (redacted(text), redacted_state(json.dumps({"text": text}))) == whole


@pytest.mark.parametrize("seed", range(20))
def test_keys_across_steps_are_found_whole(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = Random(seed)
    text = "".join(random.choice((*BITS, "lorem ipsum " * 900)) for _ in range(60))
    monkeypatch.setattr(stepwise, "_STEP", len(text))
    whole, found = secrets(text), [one.span() for one in key_pattern().finditer(text)]
    in_steps(monkeypatch, random.randint(20, 20_000))
    assert [one.span() for one in stepwise.matches(key_pattern(), text)] == found
    assert secrets(text) == whole


@pytest.mark.parametrize(
    "secret",
    [
        f"ops_eyJ{'A1' * 40_000}",
        f"-----BEGIN PRIVATE KEY-----{'x-y ' * 40_000}-----END PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----{'x-y ' * 40_000}",
    ],
)
def test_a_secret_of_any_length_is_redacted(secret: str) -> None:
    around = "word " * 30_000
    assert redacted(around + secret) == f"{around}[secret]"
    assert redacted(json.dumps({"a": around + secret})) == json.dumps({"a": f"{around}[secret]"})


@given(st.text(st.sampled_from('ab\\"\n\x00é😀\ud83d\ude00\u2028'), max_size=60), st.booleans())
def test_strings_are_read_and_written_in_steps(text: str, ascii_only: bool) -> None:
    written = json.dumps(text, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as monkeypatch:
        in_steps(monkeypatch, 14)
        assert stepwise.string_end(written, 1) == len(written) - 1
        assert stepwise.unescaped(written[1:-1]) == json.loads(written)
        assert json.loads(stepwise.escaped(text)) == json.loads(json.dumps(text))


@pytest.mark.parametrize("broken", ["\\", "\\q", "\\u12", "a\nb", "x" * 40 + "\\q"])
def test_a_broken_escape_is_an_error(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    in_steps(monkeypatch, 14)
    with pytest.raises(ValueError, match=r"JSON|escape|control|Expecting|Unterminated"):
        stepwise.unescaped(broken)


def test_json_of_endless_values_is_redacted_as_text() -> None:
    bomb = f'[{"[]," * 300_000} "password: swordfish"]'
    assert redacted(bomb) == bomb.replace("swordfish", "[secret]")
