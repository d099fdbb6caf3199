"""Invented question collections: written, crawled and read in one call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flows.engine.runner import run_records
from schemas.article import RawArticle
from schemas.question import Question, QuestionCollection
from schemas.stages import Drop
from sources.ledger import Ledger
from sources.questions import QUESTIONS, QuestionsContext, fetch
from sources.store import RawStore

SIDECAR = 'name = "ours"\nlicence = "CC-BY-4.0"\nlanguage = "en"\n'
FULL: dict[str, Any] = {
    "id": "q 1",
    "question": "Which drug?\n\nNa 120,\tK 4",
    "options": {"A": "one", "B": "two", "C": "three"},
    "correct": ["C", "A"],
    "answer": "The first and the third.",
    "explanation": "See below.",
    "citations": [{"pmid": 7}, {"url": "https://pubmed.ncbi.nlm.nih.gov/7/"}, {"text": "A book, 2020."}],
    "language": "de",
    "subject": "pharmacology",
}


@contextmanager
def opened(folder: Path) -> Iterator[QuestionsContext]:
    """A folder for collections, and a raw/ beside it."""
    root = folder / "given"
    root.mkdir()
    with Ledger(folder / "raw" / "ledger.sqlite") as ledger:
        yield QuestionsContext(root, RawStore(folder / "raw", ledger))


def put(
    context: QuestionsContext, data: bytes | list[Any], sidecar: str = SIDECAR, name: str = "q.jsonl"
) -> str:
    """Write a collection with its sidecar; returns its locator."""
    if isinstance(data, list):
        data = "\n".join(json.dumps(each) for each in data).encode()
    (context.root / name).write_bytes(data)
    (context.root / f"{name}.meta.toml").write_text(sidecar, encoding="utf-8")
    return name


def run(
    context: QuestionsContext, *raws: RawArticle
) -> tuple[list[Question], list[QuestionCollection], list[Drop]]:
    """The stage's tables and drops."""
    kept, drops, _ = run_records(
        QUESTIONS, {"crawl.raw": raws}, dict(QUESTIONS.params), {"raw": context.store.root}
    )
    return kept["questions"], kept["collections"], drops


def read(
    context: QuestionsContext, data: bytes | list[Any], sidecar: str = SIDECAR
) -> tuple[list[Question], list[QuestionCollection], list[Drop]]:
    """The same of one collection that can be crawled."""
    raw = fetch(put(context, data, sidecar), context)
    assert isinstance(raw, RawArticle), raw
    return run(context, raw)
