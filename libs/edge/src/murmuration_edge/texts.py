"""What people write for others to read: its characters, its length, and that there is something to see. Pure.

Rule: a text is kept in Unicode's NFC, and acts on nothing but itself: it has no control characters, and none that turn
round the direction in which others' text is read. A line, such as a name, stands among others' words, so it has no
marks of direction at all.
"""

from typing import Any
from unicodedata import normalize

import regex

BYTES_A_CHARACTER = 32  # on average: one visible character may be an endless pile of accents
_OVERRIDES = r"\u202A-\u202E\u2066-\u206F\uFFF9-\uFFFB"
_UNFIT_IN_LINES = regex.compile(rf"(?V1)[[\p{{Cc}}--\n]{_OVERRIDES}]")
_UNFIT_IN_A_LINE = regex.compile(rf"(?V1)[\p{{Cc}}\p{{Zl}}\p{{Zp}}\p{{Bidi_Control}}{_OVERRIDES}]")
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
    if found := (_UNFIT_IN_LINES if lines else _UNFIT_IN_A_LINE).search(text):
        raise UnfitTextError(field, f"Send it without the character U+{ord(found[0]):04X}.")
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


def _check_size(field: str, text: str, longest: int) -> None:
    if len(text.encode()) > longest * BYTES_A_CHARACTER:
        raise UnfitTextError(field, f"Send at most {longest * BYTES_A_CHARACTER} bytes.")
