"""Answers that a developer wrote by hand for the walk: right and wrong ones, to prompts of every kind.

`answers.json` holds them without a word of the articles: quotes are offsets into what is asked about, beside
its hash. What is shown otherwise than when it was read has no answer here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq

from curation.prompts.material import read_block
from curation.prompts.support import axes_of
from schemas.hashing import sha256_text
from schemas.prompt import Prompt, seed_of
from tests import evidence_world
from tests.exam_files import ITEMS

MODEL: Final = "by-hand"
WRITTEN: Final = Path(__file__).with_name("answers.json")
_MADE_UP: Final = "words that nobody wrote there"
_BY_REWRITE: Final = {" ".join(item["rewrite"].split()): item for item in ITEMS}
_PAIRS: Final = ("clinical_evidence_apart", "reference_qa_pairs")
_QUERIES: Final = (
    ("clinical_evidence_vignettes", "vignettes", "unit"),
    ("reference_qa_pairs", "queries", "source_id"),
)


class Answers:
    """What is said to each prompt of a workspace as it stands."""

    def __init__(self, work: Path) -> None:
        self._written: Mapping[str, Any] = json.loads(WRITTEN.read_text("utf-8"))
        self._unit_of = dict(_units(work))
        self._asked_about = dict(_names(work, self._unit_of))

    def to(self, prompt: Prompt) -> Mapping[str, Any] | None:
        """The answer; None where nobody wrote one."""
        kind = prompt.kind.partition("@")[0]
        if kind in ("answer", "answer-reasoning"):
            return self._judged(prompt)
        if kind == "reasoning_path":
            return self._path(prompt)
        if kind == "hyde":
            return self._hyde(prompt)
        scripts = {"intent": evidence_world.intent_of, "closed_book": evidence_world.knows,
                   "rewrite": evidence_world.rewritten}  # fmt: skip
        return scripts[kind](prompt)

    def _path(self, prompt: Prompt) -> Mapping[str, Any] | None:
        """Of a case as written; of an exam question its own path, quoting what its rewrite kept."""
        vignette = read_block(prompt, "vignette")
        if (item := _BY_REWRITE.get(" ".join(vignette.split()))) and "path" in item:
            kept = [quote for quote in item.get("quotes", ()) if quote in vignette]
            return {"path": item["path"], "quotes": kept or [" ".join(vignette.split()[2:8])]}
        written = self._written["paths"].get(prompt.subject)
        if written is None or written["text_sha256"] != sha256_text(vignette):
            return None
        return {"path": written["path"], "quotes": _quoted(vignette, written["quotes"])}

    def _judged(self, prompt: Prompt) -> Mapping[str, Any]:
        """As written, in its order; of every other pair nothing is supported."""
        passage = read_block(prompt, "passage")
        written = self._written["judgements"].get(self._asked_about[prompt.subject])
        if written is None or written["text_sha256"] != sha256_text(passage):
            return {key: value for axis in axes_of(prompt) for key, value in _said(axis, 0, []).items()}
        form = "seeded" if seed_of(prompt.form) else prompt.form
        scores = written.get(form, written["forward"])
        quotes = _quoted(passage, written["quotes"])
        return {
            key: value
            for axis, score in zip(axes_of(prompt), scores, strict=False)
            for key, value in _said(axis, score, quotes).items()
        }

    def _hyde(self, prompt: Prompt) -> Mapping[str, Any] | None:
        """Of a vignette its path, so by one hand with the labels; of a question what was written for it."""
        unit = self._unit_of.get(prompt.subject, "")
        if unit in self._written["paths"]:
            return {"passage": self._written["paths"][unit]["path"]}
        text = self._written["hyde"].get(unit)
        return None if text is None else {"passage": text}


def _said(axis: str, score: int, quotes: list[str]) -> Mapping[str, Any]:
    return {axis: score, f"{axis}_quotes": quotes if score else []}


def _quoted(text: str, spans: list[list[int] | None]) -> list[str]:
    return [_MADE_UP if span is None else text[span[0] : span[1]] for span in spans]


def _units(work: Path) -> Iterator[tuple[str, str]]:
    """Id of each query -> the vignette or question that it is made of."""
    for stage, table, name in _QUERIES:
        for row in _rows(work, stage, table, ["id", name]):
            yield row["id"], row[name]


def _names(work: Path, unit_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Id of each pair -> the name that answers.json has for it: whose query, and the passage."""
    for stage in _PAIRS:
        for row in _rows(work, stage, "pairs", ["id", "query_id", "corpus_id"]):
            yield row["id"], f"{unit_of[row['query_id']]} {row['corpus_id']}"


def _rows(work: Path, stage: str, table: str, columns: list[str]) -> Iterator[Mapping[str, Any]]:
    for path in sorted((work / stage).glob(f"*/{table}.parquet")):
        yield from pq.read_table(path, columns=columns).to_pylist()
