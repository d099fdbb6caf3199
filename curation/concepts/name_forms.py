"""The forms a name is looked for in, and a text as it is read for them.

Who hides a name in a text and who checks that it is hidden read alike: curation.tasks.clinical_case cuts by
these forms, curation.release.target_names publishes their hashes, and the audit looks for those.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from schemas.hashing import normalise_text

SHORTEST = 2
"""Characters of the shortest name looked for."""
LONGEST_ACRONYM = 4
"""Up to this many characters a name in capitals is looked for in capitals: ALL is a leukaemia, all is not."""
_POSSESSIVE = re.compile(r"(?<=\w)['’ʼ]s\b")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_BETWEEN = re.compile(f"(?<={_UNSPACED.pattern}) | (?={_UNSPACED.pattern})")
_LATIN_MARK = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_FEWEST_TO_INFLECT = 4
_CAPITALS = re.compile(rf"(?<![^\W_])[A-Z0-9]{{2,{LONGEST_ACRONYM}}}(?![^\W_])")
_SPACE = re.compile(b" ")
_JOINED = re.compile(r"(?<=\w)[-‐‑](?=\w)")


def is_unspaced(text: str) -> bool:
    """Whether some of it is in a script that writes no spaces between words."""
    return _UNSPACED.search(text) is not None


def squeezed(text: str) -> str:
    """Normalised text without the spaces that stand beside characters of a script without spaces."""
    return _BETWEEN.sub("", text)


def without_marks(text: str) -> str:
    """Normalised text without accents on Latin letters (Sjögren, Sjogren)."""
    if text.isascii():
        return text
    bare = _LATIN_MARK.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare)


def without_possessives(text: str) -> str:
    """Text with Crohn's written Crohn."""
    return _POSSESSIVE.sub("", text)


def form_length(form: str) -> int:
    """Words of a form; characters, as a negative number, where a script writes no spaces."""
    return -len(form) if is_unspaced(form) else len(form.split())


def name_forms(language: str, name: str) -> list[str]:
    """The forms a name is looked for in, sorted: as `normalise_text` gives it, and its common spellings.

    Those are: accents left out; a possessive left out or joined (Crohn disease, Crohns disease); hyphenated
    parts joined; 'B A' for 'A, B'; in English the plural or singular of the last word. Names in capitals of
    up to `LONGEST_ACRONYM` characters are looked for in capitals only. Not folded: inflection in other
    languages, compounds, word order without a comma, British and American spelling, misspellings.
    """
    plain = unicodedata.normalize("NFKC", name).strip()
    if len(normalise_text(plain)) < SHORTEST:
        return []
    if plain.isalnum() and plain.isupper() and len(plain) <= LONGEST_ACRONYM and plain.isascii():
        return [plain]
    spellings = [plain, without_possessives(plain), re.sub(r"['’ʼ]", "", plain), re.sub(r"[-‐‑]", "", plain)]
    if plain.count(",") == 1:
        head, _, tail = plain.partition(",")
        spellings.append(f"{tail} {head}")
    forms = {normalise_text(spelling) for spelling in spellings}
    if language.split("-")[0] in ("en", ""):
        forms |= {inflected for form in forms for inflected in _inflected(form)}
    forms |= {without_marks(form) for form in forms}
    return sorted({squeezed(form) if is_unspaced(form) else form for form in forms if len(form) >= SHORTEST})


def _inflected(form: str) -> list[str]:
    """English plural of a singular form, or singular of a plural one, by its ending."""
    last = form.rpartition(" ")[2]
    if len(last) < _FEWEST_TO_INFLECT or not last.isalpha() or not last.isascii():
        return []
    if last.endswith("is"):
        return [form[:-2] + "es"]
    if last.endswith(("ss", "us", "sh", "ch", "x")):
        return [form + "es"]
    if last.endswith("ies"):
        return [form[:-3] + "y"]
    if last.endswith("s"):
        return [form[:-1]]
    if last.endswith("y") and last[-2] not in "aeiou":
        return [form[:-1] + "ies"]
    return [form + "s"]


def as_bytes(text: str) -> bytes:
    """UTF-8, of half a surrogate pair too."""
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as a reader could spell it: normalised, squeezed where no spaces are written, its capitals."""

    normal: tuple[bytes, ...]
    letters: tuple[str, ...]
    capitals: frozenset[bytes]

    @classmethod
    def of(cls, text: str) -> Reading:
        """The reading of a text."""
        plain = unicodedata.normalize("NFKC", text)
        normal = {normalise_text(plain), normalise_text(without_possessives(plain))}
        if _JOINED.search(plain):
            normal.add(normalise_text(_JOINED.sub("", plain)))
        normal |= {without_marks(one) for one in normal}
        letters = sorted({squeezed(one) for one in normal}) if is_unspaced(plain) else []
        capitals = frozenset(map(as_bytes, _CAPITALS.findall(plain)))
        return cls(tuple(map(as_bytes, sorted(normal))), tuple(letters), capitals)

    def runs(self, words: int) -> set[bytes]:
        """Every run of so many words; of so many characters for a negative number."""
        if words < 0:
            return {
                as_bytes(run)
                for text in self.letters
                for start in range(len(text) + words + 1)
                if is_unspaced(run := text[start : start - words])
            }
        found: set[bytes] = set()
        for text in self.normal:
            spaces = [-1, *(match.start() for match in _SPACE.finditer(text)), len(text)]
            found.update(text[one + 1 : end] for one, end in zip(spaces, spaces[words:], strict=False))
        return found | self.capitals if words == 1 else found


def located(text: str, words: str) -> tuple[int | None, int | None]:
    """Where a normalised run stands in the text as published; nowhere when folding moved its letters."""
    parts = list(words) if is_unspaced(words) else words.split()
    pattern = (r"[\W_]*" if is_unspaced(words) else r"(?:['’ʼ]s)?[\W_]+").join(map(re.escape, parts))
    flags = re.NOFLAG if words.isupper() else re.IGNORECASE
    match = re.search(pattern, text, flags)
    return (match.start(), match.end()) if match else (None, None)
