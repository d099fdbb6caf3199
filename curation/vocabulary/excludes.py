"""Excludes1 notes of ICD-10-CM: pairs of codes never said of one patient together. Ids alone are kept.

Format: the tabular list of NCHS as XML (https://www.cdc.gov/nchs/icd/icd-10-cm/files.html): `diag` elements
with `name` and `excludes1/note`, whose text ends with codes in brackets. "E09.-" means all codes that begin
so. Notes of chapters and sections are about whole fields, and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from curation.vocabulary.known_sources import describe
from curation.vocabulary.tables import Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import ConceptRelation

SOURCE = "ICD10CM"
_CATEGORY = 3
"""Characters of a category's code."""
_CODE = re.compile(r"[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_LISTED = re.compile(rf"(?P<first>{_CODE.pattern})(?:\.?-?\s*-\s*(?P<last>{_CODE.pattern}))?")


def read(path: Path, sha256: str) -> Rows:
    """Pairs of codes, the code of a note first, as relations of kind `excludes`.

    Args:
        path: the tabular list as XML.
        sha256: hex SHA-256 of the file.

    Raises:
        InputError: it is not that file.
    """
    try:
        parser = etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, huge_tree=False)
        root = etree.parse(str(path), parser).getroot()
    except (etree.XMLSyntaxError, OSError) as error:
        raise InputError(f"not the tabular list of ICD-10-CM: {error}", file=str(path)) from error
    if root.tag != "ICD10CM.tabular":
        raise InputError(
            f"not the tabular list of ICD-10-CM, but <{root.tag}>",
            file=str(path),
            hint="name icd10cm_tabular_20xx.xml of NCHS",
        )
    yield describe(SOURCE, (root.findtext("version") or "").strip(), sha256)
    categories = [code for item in root.iter("diag") if len(code := _code(item)) == _CATEGORY]
    for item in root.iter("diag"):
        code = _code(item)
        for note in item.iterfind("excludes1/note"):
            text = "".join(map(str, note.itertext()))
            others = [other for found in _BRACKETS.findall(text) for other in _codes(found, categories)]
            if not _CODE.fullmatch(code) or not others:
                yield Drop(
                    unit="record",
                    id=f"{path.name}:{note.sourceline}",
                    article_id=path.name,
                    reason=Reason.RECORD_INVALID,
                    detail=f"a note of {code!r} without a code in brackets",
                )
                continue
            yield from (
                ConceptRelation(
                    concept=f"{SOURCE}:{code}", relation="excludes", other=f"{SOURCE}:{other}", source=SOURCE
                )
                for other in others
                if other != code
            )


def _code(item: etree._Element) -> str:
    return (item.findtext("name") or "").strip()


def _codes(text: str, categories: list[str]) -> Iterator[str]:
    """Codes between a pair of brackets; a range as the categories of the file it spans."""
    for found in _LISTED.finditer(text):
        first, last = found["first"], found["last"]
        if last is None:
            yield first
        else:
            yield from (code for code in categories if first[:_CATEGORY] <= code <= last[:_CATEGORY])
