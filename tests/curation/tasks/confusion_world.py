"""An invented vocabulary with a trap for each reason to leave a concept out, and articles that name some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow.parquet as pq

from curation.tasks.concept_discrimination.task import TASK
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Licence
from schemas.concept import Mention
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.record import from_table, to_table
from schemas.vocabulary import (
    ConceptDefinition,
    ConceptMapping,
    ConceptName,
    ConceptRelation,
    ConceptType,
    RetiredConcept,
    VocabularySource,
)

ARTICLE = "pmc:PMC1.1"
GOLD, ROOT, PARENT, GRAND, AUNT, ELSEWHERE = (
    "T:gold",
    "T:root",
    "T:parent",
    "T:grand",
    "T:aunt",
    "T:elsewhere",
)
TRAPS = {
    "synonym": "stated to be a synonym",
    "same_name": "has a name of the gold concept",
    "mapped": "a cross-reference of the gold concept",
    "retired": "an id that is no more",
    "kind": "without a definition",
    "hidden": "whose definition is restricted",
    "semantic_group": "of another group",
    "length_band": "told in few words",
    "names_anchor": "told with the anchor's name",
    "general": "with fifty-one children",
    "descendant": "below the gold concept, too",
    "shared_descendant": "with a concept below it and the gold one",
}
"""Siblings of the gold concept that must not stand beside it."""
GOOD = tuple(f"T:good{number}" for number in range(7))
TWIN = "T:twin"
"""A sibling that is barred by the member it shares a concept with, and by nothing else."""
FAR = tuple(f"T:far{number:02d}" for number in range(30))
_WORD = "abcdefghijklmnopqrstuvwxyz"


def _nonce(number: int) -> str:
    return f"q{_WORD[number // 26]}{_WORD[number % 26]}ul"


def definition(number: int, *more: str) -> str:
    """Ten words that no other concept is told in."""
    return " ".join([*(f"{_nonce(number)}{place}" for place in "abcdefghij"), *more])


@dataclass
class Vocabulary:
    """Rows of the tables, by table."""

    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in TASK.over_all.resources})

    def add(self, concept: str, *parents: str, name: str = "", text: str = "", group: str = "DISO") -> None:
        """A concept below others."""
        number = len(self.rows["types"])
        self.rows["names"].append(
            ConceptName(concept=concept, name=name or f"{_nonce(number)}oma", source="T", term_type="PT")
        )
        self.rows["types"].append(ConceptType(concept=concept, semantic_type="T047", group=group))
        if text != "-":
            told = ConceptDefinition(concept=concept, text=text or definition(number), source="T")
            self.rows["definitions"].append(told)
        self.rows["relations"] += [
            ConceptRelation(concept=concept, relation="parent", other=parent, source="T")
            for parent in parents
        ]

    def write(self, folder: Path) -> dict[str, list[Path]]:
        """A file of each table."""
        files = {}
        for name, row in TASK.over_all.resources.items():
            files[name] = [folder / f"{name}.parquet"]
            pq.write_table(to_table(row, self.rows[name]), files[name][0])
        return files


def vocabulary(gold_text: str = "") -> Vocabulary:
    """The gold concept `linnet fever`, good siblings, every trap, a cousin, thirty concepts far away."""
    made = Vocabulary()
    made.rows["sources"].append(
        VocabularySource(source="T", title="Trial", release="1", licence="CC-BY-4.0", tier="open", sha256="0")
    )
    for concept, parents in (
        (ROOT, ()), (GRAND, (ROOT,)), (PARENT, (GRAND,)), (AUNT, (GRAND,)), (ELSEWHERE, (ROOT,)),
    ):  # fmt: skip
        made.add(concept, *parents)
    made.add(GOLD, PARENT, name="Linnet fever", text=gold_text)
    for concept in (*GOOD, TWIN):
        made.add(concept, PARENT)
    made.add("T:of_both", GOOD[0], TWIN)
    for trap in TRAPS:
        text = {"kind": "-", "length_band": "told in no more words than seven", "names_anchor": ""}.get(
            trap, ""
        )
        if trap == "names_anchor":
            text = definition(600, "after", "linnet", "fever")
        group = "ANAT" if trap == "semantic_group" else "DISO"
        above = (PARENT, GOLD) if trap == "descendant" else (PARENT,)
        made.add(f"T:{trap}", *above, text=text, group=group)
    made.add("T:below", GOLD, "T:shared_descendant")
    for number in range(51):
        made.add(f"T:child{number}", "T:general", text="-")
    made.add("T:cousin", AUNT)
    made.add("T:branch", ELSEWHERE, text="-")
    made.add("T:twig", "T:branch", text="-")
    for concept in FAR:
        made.add(concept, "T:twig")
        made.rows["names"].append(ConceptName(concept=concept, name=concept[2:], source="T", term_type="SY"))
    _spring(made)
    return made


def _spring(made: Vocabulary) -> None:
    """What of the traps is no row of their own."""
    made.rows["names"].append(
        ConceptName(concept="T:same_name", name="LINNET-FEVER", source="T", term_type="SY")
    )
    made.rows["names"].append(ConceptName(concept=GOLD, name="Linnet pyrexia", source="T", term_type="SY"))
    made.rows["relations"].append(
        ConceptRelation(concept="T:synonym", relation="synonym", other=GOLD, source="T")
    )
    made.rows["mappings"].append(ConceptMapping(concept=GOLD, other="T:mapped", source="T", status="refused"))
    made.rows["retired"].append(RetiredConcept(concept="T:retired", replacement=GOLD, source="T"))
    made.rows["definitions"] = [
        row if row.concept != "T:hidden" else ConceptDefinition(
            concept=row.concept, text=row.text, source="T", tier="restricted"
        )
        for row in made.rows["definitions"]
    ]  # fmt: skip


_FILL = "Nothing else is told in these words, which only make the passage as long as a query has to be."


def source(**changes: Any) -> Source:
    """An article with keywords."""
    plain = {"id": ARTICLE, "title": "A report", "language": "en", "raw_sha256": "0",
             "licence": Licence(spdx="CC-BY-4.0", evidence="jats:license/@href"),
             "keywords": ("Linnet pyrexia",)}  # fmt: skip
    return Source(**{**plain, **changes})


def passage(number: int, text: str, article: str = ARTICLE) -> Passage:
    """A passage of running text."""
    whole = f"{text} {_FILL}"
    return Passage(
        id=f"{article}#p{number}", article_id=article, number=number, section=1, text=whole,
        text_sha256=sha256_text(whole), language="en",
    )  # fmt: skip


def build(
    folder: Path,
    made: Vocabulary,
    article: Source,
    *passages: Passage,
    mentions: tuple[Mention, ...] = (),
    given: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> tuple[dict[str, list[Any]], list[Any], dict[str, list[Any]]]:
    """Rows of the article, its drops, and rows of the stage over all. `given`: rows of its inputs."""
    tables: Mapping[str, list[Any]] = {
        "extract.sources": [article], "extract.passages": list(passages), "ground.mentions": list(mentions)
    }  # fmt: skip
    kept, drops, _ = run_records(TASK.per_article, tables, TASK.per_article.params, {})
    folder.mkdir(exist_ok=True)
    files = made.write(folder)
    for view, (table, row) in TASK.over_all.inputs.items():
        files[view] = [folder / f"{view}.parquet"]
        pq.write_table(
            to_table(row, given.get(view) or kept.get(table.partition(".")[2], [])), files[view][0]
        )
    out = folder / "out" / "all"
    out.mkdir(parents=True)
    outputs, _, _ = run_set_stage(TASK.over_all, files, out, "1GB")
    rows: dict[str, list[Any]] = {
        name: from_table(sql.row, pq.read_table(out / outputs["_dropped" if name == "drops" else name].file))
        for name, sql in TASK.over_all.outputs.items()
    }
    return kept, drops, rows
