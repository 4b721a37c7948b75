import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.core.errors import ModelError
from taskshield.judges.embedded.network.encoding import (
    HEAD_TOKENS,
    MAX_TOKENS,
    PIECE_TOKENS,
    Encoded,
    load_tokenizer,
    output_ids,
    pair_ids,
)
from tests.judges.embedded import tiny_model

TOKENIZER = load_tokenizer(tiny_model.tokenizer().to_str().encode())
START, END, MARKER = (tiny_model.WORDS.index(word) for word in ("[CLS]", "[SEP]", "[unused1]"))


def words(ids: list[int]) -> str:
    return " ".join(tiny_model.WORDS[number] for number in ids)


def output(head: str, *pieces: str) -> list[Encoded]:
    return list(output_ids(TOKENIZER, head, pieces))


def test_a_pair_is_encoded_as_bert_does() -> None:
    found = pair_ids(TOKENIZER, "a valve", "pumps")
    assert words(found.ids) == "[CLS] a valve [SEP] pump ##s [SEP]"
    assert found.types == [0, 0, 0, 0, 1, 1, 1]
    assert found.marks == ()
    assert words(pair_ids(TOKENIZER, "", "").ids) == "[CLS] [SEP] [SEP]"


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [(100, 153, (100, 153)), (10, 900, (10, 243)), (900, 10, (243, 10)), (900, 900, (127, 126))],
)
def test_the_longer_text_of_a_pair_loses_its_end(
    first: int, second: int, kept: tuple[int, int]
) -> None:
    found = pair_ids(TOKENIZER, "a " * first, "b " * second)
    assert len(found.ids) == len(found.types) == sum(kept) + 3 <= MAX_TOKENS
    assert words(found.ids).count("a") == kept[0] and words(found.ids).count("b") == kept[1]
    assert found.ids[-1] == END and found.types.count(0) == kept[0] + 2


def test_an_output_has_a_marker_before_each_piece() -> None:
    (found,) = output("valve", "a b", "pump")
    assert words(found.ids) == "[CLS] valve [SEP] [unused1] a b [unused1] pump [SEP]"
    assert found.types == [0] * 3 + [1] * 6
    assert found.marks == ((3, 0), (6, 1))


def test_what_has_no_letters_is_left_out() -> None:
    (found,) = output("valve", "12.50", "a b", "", "pump", "2024-01-01")
    assert words(found.ids) == "[CLS] valve [SEP] [unused1] a b [unused1] pump [SEP]"
    assert found.marks == ((3, 1), (6, 3))
    assert output("valve", "12.50") == []


def test_an_output_without_pieces_is_no_sequence() -> None:
    assert output("valve") == []


def test_heads_and_pieces_are_cut_each_for_itself() -> None:
    (found,) = output("a " * 100, "b " * 200, "c")
    assert words(found.ids).count("a") == HEAD_TOKENS
    assert words(found.ids).count("b") == PIECE_TOKENS
    assert found.marks == ((HEAD_TOKENS + 2, 0), (HEAD_TOKENS + 2 + 1 + PIECE_TOKENS, 1))


def test_a_sequence_begins_with_the_last_piece_of_the_one_before_unmarked() -> None:
    first, second = output("valve", "a " * 90, "b " * 90, "c " * 90)
    assert [number for _, number in first.marks] == [0, 1]
    assert words(second.ids).startswith("[CLS] valve [SEP] [unused1] b b")
    assert second.marks == ((3 + 91, 2),)
    assert words(second.ids).count("c") == 90


@given(st.text("ab ", max_size=60), st.lists(st.text("cd ", max_size=300), max_size=12))
def test_every_piece_is_marked_once_and_in_order(head: str, pieces: list[str]) -> None:
    found = output(head, *pieces)
    worded = [n for n, piece in enumerate(pieces) if any(map(str.isalpha, piece))]
    assert [number for one in found for _, number in one.marks] == worded
    for one in found:
        assert one.marks and len(one.ids) == len(one.types) <= MAX_TOKENS
        assert one.ids[0] == START and one.ids.count(END) == 2 and one.ids[-1] == END
        for mark, number in one.marks:
            own = TOKENIZER.encode(pieces[number], add_special_tokens=False).ids[:PIECE_TOKENS]
            assert one.ids[mark] == MARKER and one.types[mark] == 1
            assert one.ids[mark + 1 : mark + 1 + len(own)] == own
            assert one.ids[mark + 1 + len(own)] in (MARKER, END)


@pytest.mark.parametrize(
    "text", ["[SEP]", "[CLS][SEP]", "a[SEP]b", "[unused1]", "[PAD]", "[ sep ]"]
)
def test_no_text_can_forge_a_special_token(text: str) -> None:
    pair = pair_ids(TOKENIZER, text, text)
    assert pair.ids.count(END) == 2 and pair.ids.count(START) == 1 and pair.ids.count(MARKER) == 0
    (whole,) = output(text, text)
    assert whole.ids.count(END) == 2 and whole.ids.count(MARKER) == 1
    assert tiny_model.WORDS.index("[PAD]") not in pair.ids + whole.ids


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_is_encoded_even_halves_of_characters(text: str) -> None:
    assert pair_ids(TOKENIZER, text, "a\ud800").ids.count(END) == 2
    (whole,) = output("a\ud800", f"a{text}")
    assert whole.ids.count(END) == 2 and whole.ids.count(MARKER) == 1


def test_a_tokenizer_that_lets_texts_forge_tokens_is_refused() -> None:
    with pytest.raises(ModelError, match="forge"):
        load_tokenizer(tiny_model.tokenizer(special=False).to_str().encode())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[1]"])
def test_a_tokenizer_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(ModelError, match="tokenizer cannot be read"):
        load_tokenizer(content)


def test_a_tokenizer_without_a_marker_is_refused() -> None:
    made = tiny_model.tokenizer().to_str().replace('"[unused1]"', '"other"')
    with pytest.raises(ModelError, match=r"no token \[unused1\]"):
        load_tokenizer(made.encode())
