"""Runs a system on queries with an expansion in their place or beside them, and says what that gains."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from curation.evaluation.collection import Collection
from curation.evaluation.expansions import (
    REPEATS,
    Expansions,
    every_query,
    expanded,
    files_of,
    own_files,
    read_expansions,
)
from curation.evaluation.gain import gain, only_reasoning
from curation.evaluation.measures import PRIMARY
from curation.evaluation.ranking import Run
from curation.evaluation.results import Measured
from curation.evaluation.runs import file_stem
from curation.evaluation.systems import OWN, System
from curation.prompts.registry import KINDS
from flows.evaluate.models_named import labellers, relations, unknown_family
from schemas.wording import counted

if TYPE_CHECKING:
    from flows.evaluate.retrieval import Bench

_USED = {"in_place": "in the query's place", "beside": "after the query"}


def expansions_lacking(bench: Bench, system: System) -> str:
    """Why a system has no expansions to search with here, '' when it has some.

    Raises:
        UsageError: a file cannot be used.
    """
    found = _read(bench.collection, system)
    if found is None:
        return f"the release has no expansions of kind {system.expansion}"
    if not any(query.id in found.texts for query in bench.collection.queries):
        return "no query of this part has an expansion"
    return ""


def _read(collection: Collection, system: System) -> Expansions | None:
    """The texts of a system; None where it asks for those of a release that has none of the kind."""
    files = own_files(collection) if system.file == OWN else files_of(system.file)
    if not files:
        return None
    return read_expansions(
        files,
        system.expansion,
        every_query(collection.directory),
        may_lack=system.file == OWN,
    )


def expanded_run(bench: Bench, system: System) -> Measured:
    """Run one system on expanded queries, and beside it on the queries as they are."""
    data = bench.collection
    found = _read(data, system)
    assert found is not None  # without texts it is not run
    before = bench.run(system.plain)
    repeats = REPEATS if system.kind == "bm25" else 1
    scratch = bench.scratch / file_stem(system.name)
    scratch.mkdir()
    other = replace(
        bench,
        collection=replace(data, queries=expanded(data.queries, found, repeats=repeats)),
        scratch=scratch,
        made={},
        asked={},
        index=bench.index or bench.scratch / "bm25",
    )
    ran = other.run(system.plain)
    assert ran.run is not None and before.run is not None
    with_text = frozenset(query.id for query in data.queries if query.id in found.texts)
    without = len(data.queries) - len(with_text)
    is_beside = KINDS[found.kind].search == "beside"
    about = {
        **found.describe(),
        "used": _USED[KINDS[found.kind].search],
        **({"query_repeated": repeats} if is_beside else {}),
        "queries_with_text": len(with_text),
        "queries_without_text": without,
    }
    return Measured(
        system.name,
        system.kind,
        ran.run,
        {"base": {"name": before.name, **before.config}, "expansion": about},
        notes=_notes(found, without, len(data.queries)),
        models=({"use": found.kind, "model": ", ".join(found.models), "prompt": ", ".join(found.labels),
                 "served_models": list(found.served_models), "prompt_sha256": list(found.prompt_sha256)},),
        circular=tuple(relations(_names(found), data.head)),
        gain=_gain(data, found, (before.run, ran.run), with_text),
        cut=ran.cut,
    )  # fmt: skip


def _names(found: Expansions) -> Sequence[str]:
    return (*found.models, *found.served_models)


def _notes(found: Expansions, without: int, queries: int) -> tuple[str, ...]:
    notes = ["it searches with what a language model wrote, so it has that model's knowledge"]
    if without:
        notes.append(
            f"{without} of {counted(queries, 'query')} have no {found.kind} text and are searched as they are"
        )
    return tuple(notes)


def _gain(
    data: Collection, found: Expansions, runs: tuple[Run, Run], queries: frozenset[str]
) -> dict[str, Any]:
    """The gain on positives that the reasoning view did not find alone, and what makes it doubtful."""
    apart = only_reasoning(data.directory)
    made_by = labellers(data.head)
    doubts = [
        f"the texts' model is of the family of the {item['role']}, {item['model']}"
        for item in relations(_names(found), data.head)
    ]
    if made_by and not doubts and unknown_family(_names(found), data.head):
        doubts.append("the family of one of the models is not known, so it may not be a third one")
    if apart is None and any(item.role == "reasoning path" for item in made_by):
        doubts.append("the release does not say which positives the reasoning view alone found")
    if any(stage.get("params", {}).get("is_trial") for stage in data.head.stages):
        doubts.append("a script or a toy model answered the release's prompts")
    measured = gain(data, runs, queries, apart or frozenset())
    return {"measure": PRIMARY, **dataclasses.asdict(measured), "doubts": doubts}
