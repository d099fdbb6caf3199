"""Hashes of the names of target concepts: an auditor can look for a name in a query, nobody can read it here.

Each hash is salted with its concept, so that equal names of two concepts have nothing in common. A name is
hashed in the forms it is commonly written in; what is not folded is said at `name_forms`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from curation.published.query import QueryRunner
from schemas.hashing import normalise_text, sha256_text
from schemas.tables import TARGET_NAMES

SHORTEST = 2
"""Characters of the shortest name looked for."""
LONGEST_ACRONYM = 4
"""Up to this many characters a name in capitals is looked for in capitals: ALL is a leukaemia, all is not."""
_CONCEPTS_AT_ONCE = 2_000
_NAMES = """SELECT DISTINCT concept, language, name FROM names WHERE concept IN ({listed})
    ORDER BY concept, language, name"""
_POSSESSIVE = re.compile(r"(?<=\w)['’ʼ]s\b")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_BETWEEN = re.compile(f"(?<={_UNSPACED.pattern}) | (?={_UNSPACED.pattern})")
_LATIN_MARK = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_FEWEST_TO_INFLECT = 4


def form_hash(concept: str, form: str) -> str:
    """First 16 hex digits of SHA-256 over '<concept> <form>'."""
    return sha256_text(f"{concept} {form}")[:16]


def name_hash(concept: str, name: str) -> str:
    """First 16 hex digits of SHA-256 over '<concept> <normalised name>'."""
    return form_hash(concept, normalise_text(name))


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


def names_rows(concept: str, names: Iterable[tuple[str, str]]) -> list[dict[str, object]]:
    """Rows of `target_names` for one concept, from (language, name) pairs; sorted, unique."""
    found = {
        (language, form_hash(concept, form)): form_length(form)
        for language, name in names
        for form in name_forms(language, name)
    }
    return [
        {"concept": concept, "language": language, "words": words, "name_hash": digest}
        for (language, digest), words in sorted(found.items())
    ]


def target_names(query: QueryRunner, names: Sequence[Path], targets: Sequence[str]) -> Iterator[pa.Table]:
    """Rows of `target_names` for some concepts, in key order.

    Args:
        query: runs SQL over Parquet.
        names: the vocabulary's table of ConceptName rows.
        targets: concepts, sorted.
    """
    for start in range(0, len(targets), _CONCEPTS_AT_ONCE):
        part = targets[start : start + _CONCEPTS_AT_ONCE]
        listed = ", ".join("'" + concept.replace("'", "''") + "'" for concept in part)
        given: dict[str, list[tuple[str, str]]] = {}
        for batch in query(_NAMES.format(listed=listed), {"names": names}):
            for row in batch.to_pylist():
                given.setdefault(row["concept"], []).append((row["language"], row["name"]))
        rows = [row for concept in sorted(given) for row in names_rows(concept, given[concept])]
        yield pa.Table.from_pylist(rows, schema=TARGET_NAMES.schema)
