"""What is generated: how many articles of which kind, their ids, and a made-up hierarchy of diagnoses.

The mix follows M3Retrieve (arXiv 2510.06888, table 2): of 1,238,038 documents 41 % are passages, 40 % cases,
18 % abstracts, 0.2 % images. Diagnoses grow with the cases: pairs per query do not change with the size.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from curation.vocabulary.tables import TABLES
from flows.engine.workspace import Workspace
from flows.vocabulary.store import Build, fingerprint, home, set_current, write_batches
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptRelation, ConceptType, VocabularySource

CASES_PER_SERIES = (4, 12)
CASES_PER_DIAGNOSIS = 10
PER_PARENT, PER_GRANDPARENT = 5, 3
PLACES = 2_000
"""Concepts that are no diagnoses (parts of the body), named everywhere."""
_SKEW = 100
"""The commonest diagnosis is so many times as common as the rarest."""
_PARTS = "ba ce di fo gu ka le mi no pu ra se ti vo zu bra cle dri flo gru pla sto tre vin mor len"
_SYLLABLES = tuple(_PARTS.split())
_SOURCE = "MADEUP"
_FIRST_PMCID = 10_000_000


@dataclass(frozen=True, slots=True)
class Mix:
    """Articles of one shard: full ones with figures, case series, records that are only an abstract."""

    full: int = 28
    series: int = 98
    records: int = 356
    with_abstract: int = 5
    """Full articles that have an abstract: they make summary queries."""
    with_clinical_images: int = 1
    """Full articles whose first images are clinical: they make image search queries."""

    @property
    def articles(self) -> int:
        """Articles of a shard."""
        return self.full + self.series + self.records

    @property
    def cases(self) -> int:
        """Cases of a shard, on average."""
        return self.series * sum(CASES_PER_SERIES) // 2

    @property
    def documents(self) -> int:
        """Documents of a shard in all tasks together, about."""
        passages = self.full * 18 + self.series * 3
        return passages + self.cases + self.records + self.with_abstract + 3 * self.with_clinical_images


@dataclass(frozen=True, slots=True)
class World:
    """All that is generated for one size and seed."""

    shards: int
    seed: int = 5
    mix: Mix = Mix()

    @classmethod
    def of(cls, documents: int, seed: int = 5) -> World:
        """A world of about so many documents: whole shards of the usual mix."""
        return cls(max(1, round(documents / Mix().documents)), seed)

    @property
    def diagnoses(self) -> int:
        """Diagnoses a case may have."""
        return max(50, self.shards * self.mix.cases // CASES_PER_DIAGNOSIS)

    def random(self, *names: int) -> np.random.Generator:
        """A generator for one part, whatever was drawn for the others."""
        return np.random.default_rng([self.seed, *names])

    def pmcid(self, shard: int, number: int) -> str:
        """PMCID of an article, by its place."""
        return f"PMC{_FIRST_PMCID + shard * self.mix.articles + number}"

    def shard_name(self, shard: int) -> str:
        """Name of a shard as a crawl would give it: the source and 12 hex digits."""
        return f"pmc-{hashlib.sha256(f'{self.seed}/{shard}'.encode()).hexdigest()[:12]}"

    def diagnosis(self, random: np.random.Generator) -> int:
        """A diagnosis by chance: common ones far more often than rare ones, as in case reports."""
        flat = self.diagnoses / _SKEW
        rank = min(int(flat * ((1 + _SKEW) ** random.random() - 1)), self.diagnoses - 1)
        return (rank * 7_919 + 13) % self.diagnoses


def diagnosis_id(number: int) -> str:
    """CURIE of a diagnosis."""
    return f"{_SOURCE}:D{number:07d}"


def diagnosis_name(number: int) -> str:
    """Its name; `y` and `x` stand in no other word of a generated text, and no two names are equal."""
    mixed = number * 48_271 % len(_SYLLABLES) ** 4
    stem = ""
    for _ in range(4):
        mixed, place = divmod(mixed, len(_SYLLABLES))
        stem += _SYLLABLES[place]
    return f"familial {stem}yx disease"


def place_id(number: int) -> str:
    """CURIE of a concept that is no diagnosis."""
    return f"{_SOURCE}:A{number:07d}"


def _parents(world: World) -> Iterator[tuple[str, str]]:
    """(concept, parent) of the hierarchy: diagnoses, their parents, the parents of those."""
    parents = -(-world.diagnoses // PER_PARENT)
    for number in range(world.diagnoses):
        yield diagnosis_id(number), f"{_SOURCE}:P{number // PER_PARENT:07d}"
    for number in range(parents):
        yield f"{_SOURCE}:P{number:07d}", f"{_SOURCE}:G{number // PER_GRANDPARENT:07d}"


def _names(world: World) -> Iterator[tuple[str, str]]:
    seen: dict[str, None] = {}
    for number in range(world.diagnoses):
        yield diagnosis_id(number), diagnosis_name(number)
    for _, parent in _parents(world):
        seen.setdefault(parent)
    yield from ((one, f"group {one.rpartition(':')[2].lower()} of diseases") for one in seen)
    yield from ((place_id(number), f"region {number}") for number in range(PLACES))


def write_vocabulary(workspace: Workspace, world: World) -> None:
    """Write the made-up vocabulary and take it into use, as `medqrels vocabulary build` would."""
    identity = {"kind": "merged", "version": 1, "made_from": {"madeup": f"{world.seed}/{world.diagnoses}"}}
    build = Build(home(workspace) / f"merged-{fingerprint(identity)[:12]}", identity)
    names = list(_names(world))
    rows: dict[str, list[Any]] = {name: [] for name in TABLES if name != "drops"}
    for concept, name in names:
        is_place = concept.startswith(f"{_SOURCE}:A")
        rows["names"].append(
            ConceptName(concept=concept, name=name, source=_SOURCE, term_type="PT", is_preferred=True)
        )
        kind = ("T023", "ANAT") if is_place else ("T047", "DISO")
        rows["types"].append(ConceptType(concept=concept, semantic_type=kind[0], group=kind[1]))
    rows["relations"] = [
        ConceptRelation(concept=concept, relation="parent", other=other, source=_SOURCE)
        for concept, other in _parents(world)
    ]
    rows["sources"].append(
        VocabularySource(
            source=_SOURCE, title="Made up", release="1", licence="CC0-1.0", tier="open", sha256="0" * 64
        )
    )
    for name, table in TABLES.items():
        if name in rows:
            ordered = sorted(rows[name], key=lambda row: tuple(getattr(row, part) for part in table.key))
            made: pa.Table = to_table(table.row, ordered)
            build.table(name, lambda path, made=made: write_batches(made.to_batches(), made.schema, path))  # type: ignore[misc]
    facts = {"sources": [{"source": _SOURCE, "tier": "open"}], "translates": ""}
    set_current(workspace, build.finish(facts))
