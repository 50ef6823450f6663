"""What people write for others to read: its characters, its length, and that there is something to see. Pure.

Rule: a text is kept in Unicode's NFC. It cannot change how the text around it is shown: it has no control characters,
and none that turn round the direction of reading beyond its end. A line, such as a name, stands among others' words: it
has no marks of direction at all, nothing invisible but what scripts and emoji need, and no white space around it.
"""

from typing import Any
from unicodedata import normalize

import regex

BYTES_A_CHARACTER = 32  # on average: one visible character may be an endless pile of accents
_DIRECTION_CONTROLS = r"\u202A-\u202E\u206A-\u206F\uFFF9-\uFFFB"
_ISOLATES, _END_OF_ISOLATE = "\u2066\u2067\u2068", "\u2069"
_ENDS_OF_PARAGRAPHS = "\n\u2029"  # where every isolate ends, too
_TAGS = r"[\U000E0020-\U000E007F]"  # after a black flag they say whose it is
_UNFIT_IN_LINES = regex.compile(rf"(?V1)[[\p{{Cc}}--[\t\n]]{_DIRECTION_CONTROLS}]")
_UNFIT_IN_A_LINE = regex.compile(
    rf"(?V1)[\p{{Cc}}\p{{Zl}}\p{{Zp}}\p{{Bidi_Control}}{_DIRECTION_CONTROLS}]"
    rf"|[\p{{Default_Ignorable_Code_Point}}--[\u200C\u200D\p{{Variation_Selector}}{_TAGS}]]"
    rf"|(?<!\U0001F3F4{_TAGS}*){_TAGS}"
)
_VISIBLE = regex.compile(  # else: white space, marks that belong to another character, and fillers of several scripts
    r"(?V1)[^\p{Z}\p{M}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\U0001D159]"
)


class UnfitTextError(Exception):
    """A text that others cannot be shown."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.errors = [{"pointer": f"#/{field}", "detail": detail}]


def checked(field: str, sent: str, longest: int, *, lines: bool) -> str:
    """Return the text of a field as it is to be kept, if it is fit; characters are counted as people count."""
    _check_size(field, sent, longest)  # first, since to order an endless pile of accents takes its time
    text = normalize("NFC", sent)
    _check_size(field, text, longest)
    text, unfit = _read_lines(text) if lines else _read_line(text)
    if unfit:
        raise UnfitTextError(field, f"Send it without the character U+{ord(unfit):04X}.")
    if not _VISIBLE.search(text):
        raise UnfitTextError(field, "Send at least one character that can be seen; white space is none.")
    length = len(regex.findall(r"\X", text))
    if length > longest:
        raise UnfitTextError(field, f"Send 1 to {longest} characters, not {length}.")
    return text


def described(longest: int) -> dict[str, Any]:
    """Return what a JSON schema can say of such a text: all that are fit are within it, and some that are not."""
    said = f"1 to {longest} characters as people count them, of which at least one can be seen"
    return {"description": said, "minLength": 1, "maxLength": longest * BYTES_A_CHARACTER, "pattern": r"\S"}


def _read_line(text: str) -> tuple[str, str | None]:
    """Return the line as it is kept, and a character that it must not have."""
    found = _UNFIT_IN_A_LINE.search(text)
    return text.strip(), found[0] if found else None


def _read_lines(text: str) -> tuple[str, str | None]:
    """Return the lines as they are kept, all ended alike, and a character that they must not have."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _UNFIT_IN_LINES.search(text)
    return text, found[0] if found else _isolate_alone(text)


def _isolate_alone(text: str) -> str | None:
    """Return the mark of an isolate that is not closed in its paragraph, or closes none."""
    unclosed: list[str] = []
    for character in text:
        if character in _ISOLATES:
            unclosed.append(character)
        elif character == _END_OF_ISOLATE:
            if not unclosed:
                return character
            unclosed.pop()
        elif character in _ENDS_OF_PARAGRAPHS and unclosed:
            break
    return unclosed[0] if unclosed else None


def _check_size(field: str, text: str, longest: int) -> None:
    if len(text.encode()) > longest * BYTES_A_CHARACTER:
        raise UnfitTextError(field, f"Send at most {longest * BYTES_A_CHARACTER} bytes.")
