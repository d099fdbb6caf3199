"""A new vocabulary grounds again only what it touches.

Names that came, went or changed are an index of their own. A shard in which it finds nothing, and no word of
which is a letter away from a word that came or went (misspellings are judged by the words there are), would
be grounded to the same rows. Its manifest is stated anew, as a full run would have written it.
"""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from curation.concepts.normalise import fold, language_of
from curation.concepts.opening import version_of
from curation.concepts.typos import is_checked
from flows.engine.connection import query
from flows.engine.manifest import MANIFEST, Manifest, is_intact, read_manifest
from flows.engine.progress import Reporter
from flows.engine.runner import Job
from flows.engine.workspace import Workspace, write_atomic
from flows.vocabulary.indexes import Index
from flows.vocabulary.store import Vocabulary, home, read_vocabulary
from schemas.vocabulary import ConceptName

KEY = "resource:vocabulary"
MOST_CHANGED = 200_000
"""Of more changed names every shard is grounded again: nearly all are touched, and telling takes longer."""

_NAMES = """
    SELECT n.concept, name, language, term_type, is_preferred, coalesce(groups, '') AS groups
    FROM {side}_names AS n LEFT JOIN (
        SELECT concept, string_agg(DISTINCT "group", ' ' ORDER BY "group") AS groups
        FROM {side}_types GROUP BY concept
    ) AS t USING (concept) WHERE NOT is_suppressed"""
_WORDS = """
    SELECT DISTINCT unnest(regexp_extract_all(lower(name), '[\\p{{L}}\\p{{N}}]+')) AS word
    FROM {side}_names WHERE NOT is_suppressed"""
_DIFFERENCE = "SELECT * FROM (({old} EXCEPT {new}) UNION ({new} EXCEPT {old})) ORDER BY ALL LIMIT {limit}"
_TEXTS = """
    SELECT text, language FROM (
        SELECT text, language FROM passages
        UNION SELECT title, language FROM sources
        UNION SELECT unnest(keywords), language FROM sources
        UNION SELECT f.caption, s.language FROM figures AS f JOIN sources AS s ON f.article_id = s.id
    ) ORDER BY language, text"""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Change:
    """What came or went between two vocabularies: an index of the names, the words with letters left out."""

    matcher: NativeMatcher
    words: frozenset[str]


def carry_over(workspace: Workspace, jobs: Sequence[Job], index: Index, reporter: Reporter) -> int:
    """State anew the manifests of shards that a new vocabulary does not touch.

    Args:
        workspace: the workspace.
        jobs: of the ground stage, planned for `index`.
        index: the index in use.
        reporter: told what was found.

    Returns:
        How many shards need no grounding.
    """
    kept = 0
    changes: dict[str, _Change | None] = {}
    with tempfile.TemporaryDirectory(prefix="medqrels-changed-") as scratch:
        for job in jobs:
            held = read_manifest(job.folder)
            if held is None or not _only_vocabulary_differs(held, job.identity):
                continue
            before = held.inputs[KEY]
            if before not in changes:
                folder = Path(scratch) / str(len(changes))
                changes[before] = _change(workspace, before, index, folder)
            change = changes[before]
            if change is None or not is_intact(job.folder, held) or _is_touched(job, change):
                continue
            restated = dataclasses.replace(held, inputs=job.identity.inputs)
            write_atomic(job.folder / MANIFEST, restated.to_json().encode("utf-8"))
            kept += 1
    if kept:
        reporter.line(f"ground: {kept} of {len(jobs)} shards name nothing that changed in the vocabulary")
    return kept


def _only_vocabulary_differs(held: Manifest, wanted: Manifest) -> bool:
    if held.inputs.get(KEY) in (None, wanted.inputs.get(KEY)):
        return False
    inputs = {**held.inputs, KEY: wanted.inputs[KEY]}
    return dataclasses.replace(held, inputs=inputs).identity() == wanted.identity()


def _change(workspace: Workspace, before: str, index: Index, folder: Path) -> _Change | None:
    """What changed since a vocabulary; None when that cannot be told, or is nearly everything."""
    old = _vocabulary_of(workspace, before, index)
    if old is None:
        return None
    views = {
        f"{side}_{table}": [vocabulary.table(table)]
        for side, vocabulary in (("old", old), ("new", index.vocabulary))
        for table in ("names", "types")
    }
    names = _difference(_NAMES, views)
    words = _difference(_WORDS, views)
    if max(len(names), len(words)) > MOST_CHANGED:
        return None
    folder.mkdir()
    kept = ("concept", "name", "language", "term_type", "is_preferred")
    build_index((ConceptName(**{key: row[key] for key in kept}) for row in names), folder / "names")
    near = {piece for row in words if is_checked(fold(row["word"])) for piece in _deletes(fold(row["word"]))}
    return _Change(open_index(folder / "names"), frozenset(near))


def _difference(text: str, views: Mapping[str, Sequence[Path]]) -> list[dict[str, Any]]:
    sides = {side: text.format(side=side) for side in ("old", "new")}
    statement = _DIFFERENCE.format(**sides, limit=MOST_CHANGED + 1)
    return [row for batch in query("2GB")(statement, views) for row in batch.to_pylist()]


def _vocabulary_of(workspace: Workspace, fingerprint: str, index: Index) -> Vocabulary | None:
    """The vocabulary of an index's fingerprint, if it stands read by the same native matcher."""
    found = re.fullmatch(r"([0-9a-f]{64})/(\w+)/([\w-]+)", fingerprint)
    if found is None or index.backend != "native" or found[2] != "native":
        return None
    if found[3] != version_of("native"):
        return None
    vocabulary = read_vocabulary(home(workspace) / f"merged-{found[1][:12]}")
    return vocabulary if vocabulary is not None and vocabulary.fingerprint == found[1] else None


def _is_touched(job: Job, change: _Change) -> bool:
    views = {name: job.inputs[f"extract.{name}"] for name in ("sources", "figures", "passages")}
    seen: set[str] = set()
    for batch in query("2GB")(_TEXTS, views):
        texts: dict[str, list[str]] = {}
        for row in batch.to_pylist():
            texts.setdefault(row["language"], []).append(row["text"])
        for language, those in sorted(texts.items()):
            words = {word for text in those for word in _WORD.findall(text)} - seen
            seen |= words
            if any(not change.words.isdisjoint(_deletes(word)) for word in _doubtful(words, language)):
                return True
            if any(change.matcher.find_many(those, language, overlaps=True)):
                return True
    return False


def _doubtful(words: Iterable[str], language: str) -> Iterator[str]:
    """Folded words that may be taken for misspelt."""
    common = language_of(language).common
    yield from (folded for folded in map(fold, words) if folded not in common and is_checked(folded))


def _deletes(word: str) -> Iterator[str]:
    """A word, and the word with each letter left out: two words that share one are near."""
    yield word
    yield from (word[:place] + word[place + 1 :] for place in range(len(word)))
