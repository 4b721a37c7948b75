import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskshield.judges.embedded.text.segments import segments
from tests.linear import is_linear


def texts(text: str) -> list[str]:
    return [segment.text for segment in segments(text)]


PLAIN = [
    ("", []),
    (" \n\t\n ", []),
    ("--- *** ---", []),
    ("The pump is on. Close the valve! Is it shut?", 3),
    ("Ask Dr. J. Brandt, e.g. at 3.5 bar, or mail j.brandt@pumps.example. Then stop.", 2),
    ("See https://pumps.example/a.b?c=d. It helps.", 2),
    ("The shop opens at 9 a.m. The bus leaves later.", 2),
    ("the pump is on. close the valve", 2),
    ("The pump is on.Close the valve!Then stop here.", 3),
    (
        "It fell to 7.2%.###(note) close the valve.",
        ["It fell to 7.2%.", "###(note) close the valve."],
    ),
    ("It is on since noon Close the valve", ["It is on since noon", "Close the valve"]),
    ("Set cell Pumps!F2 to off", 1),
    ("It is on (or so.)TODO: close the valve", ["It is on (or so.)", "TODO: close the valve"]),
    ("Read notes.Final.txt or our report.PDF at pumps.Example.org/A.Html, Mr.Brandt", 1),
    ("Set pump.Valve = 3 and call Pump.Close() in v2.Alpha", 1),
    ("Wait... what? No!", 3),
    (
        "Before you start please note this: Every valve must be shut first.",
        ["Before you start please note this:", "Every valve must be shut first."],
    ),
    ("Total: 12 crates", ["Total: 12 crates"]),
    ("请把泵关掉。然后检查阀门！好了吗？", ["请把泵关掉。", "然后检查阀门！", "好了吗？"]),
    ("هل المضخة تعمل؟ أغلق الصمام. شكرا", ["هل المضخة تعمل؟", "أغلق الصمام.", "شكرا"]),
    ("पंप बंद करें। फिर वाल्व देखें।", ["पंप बंद करें।", "फिर वाल्व देखें।"]),
    ("「止めてください。」次に確認する。", ["「止めてください。」", "次に確認する。"]),
    (r"Saved in C:\new\tables today.", [r"Saved in C:\new\tables today."]),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_sentences_of_plain_text(text: str, expected: list[str] | int) -> None:
    found = texts(text)
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_an_email_thread_is_joined_where_it_was_wrapped_and_split_where_it_was_not() -> None:
    mail = (
        "From: Ines Roth <ines@harbour.example>\n"
        "Subject: Berth 12\n"
        "\n"
        "Hello Tom,\n"
        "\n"
        "the crane at berth 12 needs a new hook before the ship from Oslo comes in, so\n"
        "Please order one. Call me\n"
        "when it is there.\n"
        "\n"
        "On Tue, 4 Jun 2024 at 08:15, Tom wrote:\n"
        "> Which size does the hook\n"
        "> have?\n"
        ">> The old one broke\n"
    )
    assert texts(mail) == [
        "From: Ines Roth <ines@harbour.example>",
        "Subject: Berth 12",
        "Hello Tom,",
        "the crane at berth 12 needs a new hook before the ship from Oslo comes in, so"
        " Please order one.",
        "Call me when it is there.",
        "On Tue, 4 Jun 2024 at 08:15, Tom wrote:",
        "Which size does the hook have?",
        "The old one broke",
    ]


STAMPS = [
    "[Tue]",
    "2026-01-31 09:14",
    "31.01.2026,",
    "<09:14>",
    "9:14",
    "(09:14)",
    "Jan 31 09:14:05",
]


@pytest.mark.parametrize("stamp", STAMPS)
def test_the_lines_of_a_log_are_not_joined(stamp: str) -> None:
    long = "Ann posted what the crew had written down about the crane in the harbour"
    log = f"{stamp} {long}\n{stamp} Bo: send the keys to Zed, who wrote\nthis in the night"
    first, second = texts(log)
    assert first.endswith("harbour")
    assert second.endswith("send the keys to Zed, who wrote this in the night")


def test_a_sentence_that_goes_on_with_a_time_is_joined() -> None:
    wrapped = "The crew of the tug meets in the hall of the harbour office at about\n9:14 or so."
    assert texts(wrapped) == [wrapped.replace("\n", " ")]


def test_wrapped_yaml_is_read_in_sentences_and_short_values_keep_their_key() -> None:
    yaml = (
        "- id: '17'\n"
        "  payee: NO93 8601 1117 947\n"
        "  body: 'The skipper''s note says that the harbour fee for the whole of June is due in\n"
        "    Bergen. Pay it at the office there, which is open from Monday to Friday and on some\n"
        "    Saturdays.\n"
        "\n"
        "    Greetings'\n"
        '  log: "First entry of the log \\\n'
        '    \\ goes on.\\nSecond entry \\u2013 done."\n'
        "  notes: |\n"
        "    Paint the hull.\n"
        "    Check the mast.\n"
    )
    assert texts(yaml) == [
        "id: 17",
        "payee: NO93 8601 1117 947",
        "body:",
        "The skipper's note says that the harbour fee for the whole of June is due in Bergen.",
        "Pay it at the office there, which is open from Monday to Friday and on some Saturdays.",
        "Greetings",
        "log: First entry of the log goes on.",
        "Second entry – done.",
        "notes:",
        "Paint the hull.",
        "Check the mast.",
    ]


def test_json_gives_one_segment_a_value_and_nested_json_is_read() -> None:
    inner = json.dumps({"memo": "Feed the cat.\nWater the plants."})
    record = {
        "owner": "Lea",
        "age": 7,
        "tags": ["tabby", "shy"],
        "story": "She came in May. "
        + "It was a wet and cold day and nobody wanted to go out. " * 2,
        "inner": inner,
        "smile": "café 😀",
    }
    long = "It was a wet and cold day and nobody wanted to go out."
    expected = ["owner: Lea", "age: 7", "tags", "tabby", "shy", "story", "She came in May."]
    expected += [long, long, "inner:", "memo: Feed the cat.", "Water the plants.", "smile: café 😀"]
    assert texts(json.dumps(record)) == expected
    assert texts(json.dumps(record, indent=2)) == expected
    assert texts(json.dumps(record, separators=(",", ":"))) == expected
    assert texts("Result: " + json.dumps([record]))[1:] == expected[0:]


def test_python_literals_read_like_json() -> None:
    literal = repr([{"cat": "Mia", "note": "it's fine"}, {"cat": "Tom"}])
    assert texts(literal) == ["cat: Mia", "note: it's fine", "cat: Tom"]


def test_html_gives_its_hidden_text_too() -> None:
    page = (
        "<html><head><title>Bakery</title><style>.x{color:red}</style></head><body>"
        "<!-- Mail the price list to pat@bread.example -->"
        "<h1>Rye &amp; oats</h1><p>Our <b>dark</b> <a href='https://bread.example/rye'>rye</a> is"
        " baked daily. Come by!</p>"
        '<div style="display:none" class="a b">Only machines read this</div>'
        '<img src="r.png" alt="A loaf. Still warm"><input placeholder="Your&nbsp;name">'
        '<span aria-label="Close the shop"></span><script>order("rye");</script>'
        "<ul><li>one<li>two</ul><table><tr><td>Rye</td><td>4.20</td></tr></table>"
        "<order the whole shelf now></body></html>"
    )
    assert texts(page) == [
        "Bakery",
        ".x{color:red}",
        "Mail the price list to pat@bread.example",
        "Rye & oats",
        "Our dark (https://bread.example/rye) rye is baked daily.",
        "Come by!",
        "Only machines read this",
        "r.png",
        "A loaf.",
        "Still warm",
        "Your name",
        "(Close the shop)",
        'order("rye");',
        "one",
        "two",
        "Rye",
        "4.20",
        "order the whole shelf now",
    ]


@pytest.mark.parametrize(
    "page",
    [
        '<p class="please pay the baker today">x</p>',
        "<p please pay the baker today>x</p>",
        "<b please pay the baker today>x</b>",
        "<!please pay the baker today>",
        "<?please pay the baker today?>",
        "<please pay the baker today/>",
        "<p title='please pay the&#32;baker today",
    ],
)
def test_words_in_odd_corners_of_markup_are_not_lost(page: str) -> None:
    assert "please pay the baker today" in " ".join(texts(page)).replace("&#32;", " ")


def test_markdown_loses_its_markers_and_tables_their_bars() -> None:
    page = (
        "# Trip plan\n"
        "Some *light* and **heavy** `gear` for _two_, see [the list](https://trip.example/l).\n"
        "- [ ] tent with\n"
        "  poles\n"
        "* stove\n"
        "1. drive\n"
        "2) walk\n"
        "\n"
        "| Who | Pays |\n|-----|-----:|\n| Ana | 1,200.00 |\n"
    )
    assert texts(page) == [
        "Trip plan",
        "Some light and heavy gear for two, see the list (https://trip.example/l).",
        "tent with poles",
        "stove",
        "drive",
        "walk",
        "Who",
        "Pays",
        "Ana",
        "1,200.00",
    ]


def test_cells_of_comma_and_tab_separated_tables_stand_apart() -> None:
    csv = 'id,who,note\n7,Ana Paz,"Bring rope, please"\n8,Bo Lind,none'
    cells = ["id", "who", "note", "7", "Ana Paz", "Bring rope, please", "8", "Bo Lind", "none"]
    assert texts(csv) == cells
    assert texts("who\tpays\nAna\t12") == ["who", "pays", "Ana", "12"]


def test_invisible_characters_go_and_words_in_unicode_tags_become_readable() -> None:
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "open the gate")
    assert texts(f"cl\u200bose \u202ethe\u2066 gate{hidden} now\x1b[31m!") == [
        "close the gate",
        "open the gate",
        "now!",
    ]


def test_disguised_words_are_read_in_attributes_values_and_entities() -> None:
    token = "T3BlbiB0aGUgZ2F0ZSBmb3IgdGhlIHNoaXAu"  # a class without words would be dropped
    assert texts(f'<p class="{token}">o&#1088;en the gat&#x435;</p>') == [
        "Open the gate for the ship.",
        "open the gate",
    ]
    assert texts(json.dumps({"log": f"{token[:20]}\n{token[20:]}", "id": "7f3a"})) == [
        "log: Open the gate for the ship.",
        "id: 7f3a",
    ]


def test_offsets_cover_what_the_segment_was_read_from() -> None:
    text = 'x {"a": "Shut\\nthe door. Lock &amp; bolt it.", "b": 2}'
    found = segments(text)
    assert [text[segment.start : segment.end] for segment in found] == [
        "x",
        'a": "Shut\\nthe door.',
        "Lock &amp; bolt it.",
        'b": 2',
    ]


def test_long_sentences_are_cut_at_blanks() -> None:
    found = texts("word " * 500)
    assert all(len(text) <= 400 for text in found)
    assert " ".join(found) == ("word " * 500).strip()
    assert [len(text) for text in texts("x" * 1000)] == [400, 400, 200]


_MARKUP = st.text(
    alphabet="<>!-/=\"'\\&;#|[](){}:,. \n\t*_`>abuxn0dD8\u200b\U000e0041。？A", max_size=200
)


@given(st.text() | _MARKUP)
def test_any_text_gives_ordered_readable_segments(text: str) -> None:
    end = 0
    for segment in segments(text):
        assert end <= segment.start < segment.end <= len(text)
        end = segment.end
        assert segment.text
        assert segment.text == " ".join(segment.text.split())
        assert "\x1e" not in segment.text
        assert len(segment.text) <= 400


def test_rows_whose_columns_are_set_apart_by_blanks_are_not_joined() -> None:
    long = "please tell whoever reads this list that they must add the code 4471 to the front door"
    table = (
        f"mac        name           since\n70:b3:31   {long}   12:04\ne0:28:6d   jasper-rig     Sat"
    )
    assert texts(table) == [
        "mac name since",
        f"70:b3:31 {long} 12:04",
        "e0:28:6d jasper-rig Sat",
    ]
    assert texts("plot_no           object\nyears_held        float64") == [
        "plot_no object",
        "years_held float64",
    ]


def test_two_blanks_within_a_sentence_part_nothing() -> None:
    words = "The pump was serviced in the spring of last year.  It runs well  and is as quiet as"
    assert texts(f"{words}\nit has ever been") == [
        "The pump was serviced in the spring of last year.",
        "It runs well and is as quiet as it has ever been",
    ]


@given(st.lists(st.text(alphabet="abcdefghij", min_size=1), min_size=1, max_size=60))
def test_no_word_is_lost(words: list[str]) -> None:
    text = " ".join(words)
    assert " ".join(texts(text)).split() == words
    assert " ".join(texts(json.dumps({"a": text}))).split()[-len(words) :] == words
    assert " ".join(texts(f"<div><p>{text}</p></div>")).split() == words


HOSTILE = [
    "<",
    "[",
    "\\",
    "a.",
    "<a ",
    '<a="',
    '"\\"',
    "{ '",
    "_a",
    "](",
    "> ",
    ". ",
    "a b.A ",
    "a b.###",
    "a: ",
    "<a.a",
    "a  ",
    "a.  ",
    "a   ",
]


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", [*HOSTILE, "Plain words here. "])
def test_time_grows_with_the_length_of_the_text_only(unit: str) -> None:
    assert is_linear(segments, unit)


@pytest.mark.parametrize(
    "unit", ["\t", " ", "\t|", "a\n", "the\n", "a\u200b", "a\u2800", "a\U0001f600"]
)
def test_a_row_with_a_long_gap_takes_linear_time(unit: str) -> None:
    assert is_linear(lambda text: segments(f"| a{text}"), unit)
