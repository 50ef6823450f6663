"""What people write for others to read."""

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from murmuration_edge.texts import UnfitTextError, checked, described

DIRECTION_CONTROLS = [*range(0x202A, 0x202F), *range(0x2066, 0x2070), 0xFFF9, 0xFFFA, 0xFFFB]
MARKS = [0x061C, 0x200E, 0x200F]
CONTROLS = [n for n in (*range(32), *range(0x7F, 0xA0)) if n not in (0x09, 0x0A, 0x0D)]
WHITE_SPACE = [0x09, 0x0A, 0x2028, 0x2029]
INVISIBLE = [0xAD, 0x034F, 0x115F, 0x180E, 0x200B, 0x2060, 0x2064, 0x3164, 0xFEFF, 0xFFA0, 0x1D173, 0xE0001, 0xE0061]
UNSEEN = [
    *(0x20, 0xA0, 0xAD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x180B, 0x180E, 0x2000, 0x200B, 0x200C, 0x200D, 0x2060, 0x2064),
    *(0x2800, 0x3000, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFFF, 0x1D159, 0xE0001, 0xE0061, 0xE0100, 0x0301),
]
unseen = st.text(st.sampled_from([chr(n) for n in UNSEEN]))


def line(text, longest=50):
    return checked("name", text, longest, lines=False)


def lines(text, longest=280):
    return checked("text", text, longest, lines=True)


def named(numbers):
    return pytest.mark.parametrize("number", numbers, ids=lambda number: f"U+{number:04X}")


@named([*DIRECTION_CONTROLS, *CONTROLS])
def test_no_text_acts_on_what_stands_beside_it(number):
    """Wherever in it; the problem names the character and the field."""
    for check, field in ((line, "name"), (lines, "text")):
        with pytest.raises(UnfitTextError, match=rf"{field}: .*U\+{number:04X}") as refused:
            check(f"a{chr(number)}b")
        assert refused.value.errors[0]["pointer"] == f"#/{field}"


@named([*MARKS, *WHITE_SPACE, *INVISIBLE])
def test_a_line_has_no_line_end_no_mark_of_direction_and_nothing_invisible(number):
    """A name stands among others' words, and looks as it is; a tweet may have lines, and marks where scripts meet."""
    for text in (f"a{chr(number)}b", f"ab{chr(number)}", f"{chr(number)}ab"):
        with pytest.raises(UnfitTextError, match=rf"name: .*U\+{number:04X}"):
            line(text)
        assert lines(text) == text


@pytest.mark.parametrize(
    "name",
    [
        *("👨‍👩‍👧‍👦 Family", "🇨🇭", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "❤️", "葛󠄀城", "می‌خواهم", "क्‍ष", "ශ්‍රී", "สมชาย", "홍길동"),
        *("தமிழ்", "བཀྲ་ཤིས་", "שָׁלוֹם", "محمد", "Zoë", "Đặng", "O'Neil", "Мария-Анна"),
    ],
)
def test_names_of_all_scripts_are_names(name):
    """Some need what is not seen by itself: joiners, and marks that choose how a character looks."""
    assert line(name) == normalize("NFC", name)


def test_the_ends_of_a_line_are_no_part_of_it():
    """They are neither kept nor counted; but a line end is refused there, too."""
    assert line(f"  \u3000{'x' * 50} ") == "x" * 50
    assert lines("  x ") == "  x "
    for end in "\t\n\r":
        with pytest.raises(UnfitTextError, match=rf"U\+{ord(end):04X}"):
            line(f"x{end}")


def test_lines_end_in_one_way():
    """However they end where they were typed; the same text is then the same tweet."""
    assert lines("Hi\r\nthere\rand\n\n\there") == "Hi\nthere\nand\n\n\there"


@pytest.mark.parametrize("opening", "\u2066\u2067\u2068")
def test_a_text_may_set_a_part_of_itself_apart(opening):
    """Apps put isolates around names of another direction. What is opened must be closed, in its own paragraph."""
    balanced = ("a {open}محمد{close} b", "{open}a{open}b{close}{close}", "{open}a{close}\n{open}b{close}")
    for text in (each.format(open=opening, close="\u2069") for each in balanced):
        assert lines(text) == text
        with pytest.raises(UnfitTextError):
            line(text)
    for text in (
        "{open}a",
        "a{close}",
        "{close}{open}a",
        "{open}a\nb{close}",
        "{open}a\u2029b{close}",
        "{open}{open}a{close}",
    ):
        with pytest.raises(UnfitTextError, match=r"U\+206[6-9]"):
            lines(text.format(open=opening, close="\u2069"))


@given(unseen)
def test_there_is_something_to_see(text):
    """Not white space, joiners, fillers, variation selectors or accents alone, however many."""
    with pytest.raises(UnfitTextError):
        line(text)
    with pytest.raises(UnfitTextError):
        lines(f"{text}\n")


@given(unseen, st.sampled_from(["x", "é", "한", "👍🏽", "👨‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "नि", "\ue000", "\U0001fae9"]))
def test_one_character_that_can_be_seen_is_enough(text, character):
    """Of any script, and of a version of Unicode that is newer than ours."""
    assert character in lines(character + text + character)


@given(st.text())
def test_what_is_kept_is_normal_and_is_kept_as_it_is_when_it_comes_again(text):
    """A client that sends back what it was shown changes nothing."""
    for check in (line, lines):
        try:
            kept = check(text)
        except UnfitTextError:
            continue
        assert normalize("NFC", kept) == kept == check(kept)


@given(st.text())
def test_what_is_fit_is_what_the_api_describes(text):
    """A client that checks by the schema sends nothing less than what is taken."""
    try:
        checked("name", text, 5, lines=True)
    except UnfitTextError:
        return
    assert Draft202012Validator(described(5)).is_valid(text)


def test_two_ways_to_write_a_name_are_one():
    """An accent of its own, or not; a Korean syllable, or its parts."""
    assert line("Zoe\u0301") == "Zo\u00e9"
    assert line("\u1112\u1161\u11ab") == "\ud55c"


@pytest.mark.parametrize("character", ["x", "é", "e\u0301", "👩‍👩‍👧‍👦", "🇨🇭", "한"])
def test_length_is_counted_as_people_count(character):
    """A family, a flag or an accented letter is one character, however many code points it takes."""
    assert lines(character * 280)
    for check, longest in ((line, 50), (lines, 280)):
        with pytest.raises(UnfitTextError, match=f"1 to {longest} characters, not {longest + 1}"):
            check(character * (longest + 1))


def test_a_pile_of_accents_ends_somewhere():
    """It is one character, and a page long, as it comes or as it would be kept."""
    for pile in ("x" + "\u0301" * 5_000, "x" + "\u0344" * 3_000):
        with pytest.raises(UnfitTextError, match="8960 bytes"):
            lines(pile)


def test_accents_that_have_to_be_put_in_order_take_no_time():
    """Which is the square of their number: a body that is full of them would hold its thread for a second."""
    began = time.process_time()
    with pytest.raises(UnfitTextError, match="bytes"):
        lines("x" + "\u0301" * 15_000 + "\u0323" * 15_000)
    assert time.process_time() - began < 0.1
