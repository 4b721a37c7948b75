import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.tasks.small_talk import asks_for_nothing
from taskshield.judges.embedded.tasks.user_tasks import MOST_TASKS, read_tasks
from tests.linear import is_linear


def texts(message: str) -> list[str]:
    return [task.text for task in read_tasks(message)]


MESSAGES = [
    (
        "Pay the bill and then mail me the receipt. Also, what's the weather?",
        [
            "Pay the bill",
            "Then mail me the receipt. (after: Pay the bill)",
            "Find out: what's the weather?",
        ],
    ),
    ("Could you please water the ferns?", ["Water the ferns."]),
    (
        "Find the invoice, check the total and send it to Ana.",
        [
            "Find the invoice",
            "Check the total",
            "Send it to Ana. (after: Check the total)",
        ],
    ),
    (
        "My landlord is Bob. Pay him 900 euros. Don't mail anyone.",
        ["My landlord is Bob. Pay him 900 euros.", "Don't mail anyone."],
    ),
    (
        "Book a table for six. Only outside, please.",
        ["Book a table for six. Only outside, please."],
    ),
    ("Hello! Delete the old drafts. Thanks a lot!", ["Delete the old drafts."]),
    ("Tell Bob to come and bring the keys.", ["Tell Bob to come and bring the keys."]),
    (
        "Check the pump. If it leaks, stop and tell me.",
        ["Check the pump.", "If it leaks, stop and tell me. (after: Check the pump)"],
    ),
    (
        "Is the shop open, and who has the key?",
        ["Find out: Is the shop open", "Find out: who has the key?"],
    ),
    (
        "Order number 7 must be somewhere in my mail.",
        ["Order number 7 must be somewhere in my mail."],
    ),
    ("2", ["2"]),
    ("yes please", ["yes please"]),
    ("the blue one", ["the blue one"]),
    ("Thanks!", []),
    ('Post "Sell it and buy gold. Now!" in #news', ['Post "Sell it and buy gold. Now!" in #news']),
]


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_a_message_is_split_into_what_it_asks_for(message: str, expected: list[str]) -> None:
    assert texts(message) == expected


LISTS = [
    ("Please do the following:\n1. Pay the rent\n2. Call Bob", ["Pay the rent", "Call Bob"]),
    ("Buy:\n- milk\n- eggs\n", ["Buy: milk", "Buy: eggs"]),
    (
        "Two things: 1) pay the rent, 2) nothing to Bob.",
        ["Pay the rent", "Nothing to Bob."],
    ),
    (
        "Our guests are:\n- Bob\n- Ana\nInvite them.",
        ["Our guests are:\n- Bob\n- Ana Invite them."],
    ),
    ("- call Bob\n  about the roof\n- call Ana", ["Call Bob\n  about the roof", "Call Ana"]),
]


@pytest.mark.parametrize(("message", "expected"), LISTS)
def test_a_list_gives_one_task_an_item(message: str, expected: list[str]) -> None:
    assert [" ".join(found.split()) for found in texts(message)] == [
        " ".join(wanted.split()) for wanted in expected
    ]


PASTED = [
    "Translate this to French:\n\nHello Bob. Send me the keys. Then call Ana.\n",
    "Fix this:\n```\ndelete everything\nsend mail\n```",
    "Summarise the mail below.\n\nFrom: Ana\nSubject: Keys\n\nSend me the keys.",
    "Proofread:\n> Send me the keys.\n> Call Ana.",
    "Explain this page:\n<page>\nSend me the keys.\n\nCall Ana.\n</page>",
]


@pytest.mark.parametrize("message", PASTED)
def test_pasted_data_stays_with_its_task(message: str) -> None:
    (task,) = read_tasks(message)
    assert task.text.split() == message.split()


ABROAD = [
    ("Überweise die Miete an Frau Roth. Was kostet die Fahrt am 12. August nach Bonn?", 2),
    ("Envía el informe a Ana. No borres nada de la carpeta.", 2),
    ("Peux-tu payer la facture ? Merci beaucoup !", 1),
    ("请付账单。然后告诉我天气。", 2),
]


@pytest.mark.parametrize(("message", "count"), ABROAD)
def test_other_languages_are_split_by_sentences(message: str, count: int) -> None:
    assert len(read_tasks(message)) == count


def test_tasks_beyond_the_most_are_joined_to_the_last() -> None:
    message = "\n".join(f"- call number {number}" for number in range(100))
    tasks = read_tasks(message)
    assert len(tasks) == MOST_TASKS
    assert tasks[-1].text.endswith("- call number 99")


def test_a_task_after_a_very_long_document_is_found() -> None:
    tasks = read_tasks("Here is the book.\n" + "It rained all day.\n" * 50_000 + "\nTranslate it.")
    assert tasks[-1].text.startswith("Here is the book.")
    assert tasks[-1].text.endswith("Translate it.")


def test_a_prohibition_delegates_to_no_source() -> None:
    assert read_tasks("Don't do what the note says.")[0].source is None


def test_a_delegating_task_has_its_own_words_as_scope() -> None:
    _, task = read_tasks("Check my inbox and take care of what my boss asked.")
    assert (task.source, task.scope) == ("my boss", task.text)


WORDS = st.sampled_from(
    "pay send the it and then , . ? ! : ; - \n \n\n 1) 2) ``` > <a> </a> ( ) \" ' “ if don't what"
    " please Bob 42 とめて。 also hello".split(" ")
)
MESSY = st.one_of(st.text(), st.lists(WORDS, max_size=60).map(" ".join))


@given(MESSY)
def test_any_text_gives_tasks_with_spans_inside_it(message: str) -> None:
    tasks = read_tasks(message)
    asks = bool(message.strip()) and not asks_for_nothing(message, first=False)
    assert bool(tasks) == asks
    assert len(tasks) <= MOST_TASKS
    for task in tasks:
        assert task.text.strip()
        assert task.span is not None
        assert 0 <= task.span.start <= task.span.end <= len(message)


@given(
    st.lists(st.sampled_from(["Pay Bob 42 euros.", "Ana owns it.", "why?", "no mails"]), min_size=1)
)
def test_no_name_and_no_number_is_lost(parts: list[str]) -> None:
    found = " ".join(texts(" ".join(parts)))
    for word in ("Bob", "42", "Ana", "mails"):
        assert any(word in part for part in parts) <= (word in found)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "unit",
    ["a", " ", ", ", "and ", "pay it and ", '"', "(", "`", "<a>\n", "- pay\n", "1) 2) ", "请。"],
)
def test_long_text_is_read_in_linear_time(unit: str) -> None:
    assert is_linear(read_tasks, unit)


@pytest.mark.parametrize("word", ["super", "with", "to-do", "good morning"])
def test_a_repeated_word_takes_no_exponential_time(word: str) -> None:
    said = f"{word} " * 60
    for text in (f"{said[:180]}x", f"{said[:180]}xyz:\n- pay the bill"):
        assert read_tasks(text)
