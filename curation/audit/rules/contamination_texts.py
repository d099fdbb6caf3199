"""Which texts of the audited dataset stand in another benchmark too: word for word, nearly, or in part."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.audit.dataset import Dataset
from curation.audit.layouts.hashlist import Listed, read_hash_list
from curation.audit.rule import Context
from curation.similarity.text.engine import (
    SPAN,
    Matches,
    Texts,
    copied_spans,
    match_hash_list,
    near_pairs,
    standing_in,
)
from curation.similarity.text.whole import LEAST, STOCK, Wholes, whole_texts
from schemas.audit import Coverage

How = Literal["exact", "near", "span", "whole", "inside"]
"""whole: ours stands whole in theirs; inside: theirs, a question, in ours."""
Part = Literal["query", "positive", "document"]
TABLES = ("queries", "corpus")
_ORDER: Mapping[str, int] = {"query": 0, "positive": 1, "document": 2}


@dataclass(frozen=True, slots=True)
class Hit:
    """One text of ours that stands in another benchmark. Rows count through the files of a table."""

    table: str
    id: str
    row: int
    part: Part
    other_id: str
    other_row: int
    how: How
    value: float
    """Similarity, or words of the copied span."""
    run: tuple[int, int] = (0, 0)
    """First token and number of tokens of the copied run in ours, known for hash lists."""
    is_positive: bool = False
    """Whether ours is a positive document."""

    @property
    def order(self) -> tuple[str, str, int, str, int, int]:
        """Sort key: by our id, then by theirs."""
        return (self.table, self.id, _ORDER[self.part], self.other_id, self.row, self.other_row)


@dataclass
class Compared:
    """Everything that comparing texts with one other benchmark gave."""

    dataset: Dataset
    hits: list[Hit] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    """Texts of theirs: query, positive, document."""
    suppressed: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Our table -> boilerplate fingerprints, places and texts that nominated no pair."""
    without_tokens: dict[str, int] = field(default_factory=dict)
    """Our table -> texts of either side without a letter or digit."""
    short: dict[str, dict[str, int]] = field(default_factory=dict)
    """Our table -> why short questions were not sought inside longer texts -> how many."""
    is_judged: bool = True
    """Whether theirs says which documents are positive; if not, all count as positive."""
    is_hash_list: bool = False


def compare(context: Context) -> list[Compared]:
    """Every other benchmark compared with all texts of the audited dataset; done once for all rules."""
    held: dict[str, Any] = vars(context).setdefault("_contamination", {})
    if "texts" not in held:
        own = ours(context)
        held["texts"] = [_compare(context, own, other) for other in context.against]
    found: list[Compared] = held["texts"]
    return found


def ours(context: Context) -> dict[str, Texts]:
    """The audited dataset's own texts by table."""
    found = {"queries": lambda: context.queries, "corpus": lambda: context.corpus}
    return {name: found[name]() for name in TABLES if name in context.views}


def of_table(context: Context, dataset: Dataset, table: str) -> Texts:
    """Texts of a table, read from its files."""
    return context.texts_of(dataset, table, dataset.name)


def positives(context: Context, dataset: Dataset) -> frozenset[str] | None:
    """Ids of documents with a score above zero; None when the dataset has no qrels."""
    if "qrels" not in dataset.views:
        return None
    text = 'SELECT DISTINCT "corpus-id" AS id FROM qrels WHERE score > 0'
    batches = context.query(text, {"qrels": dataset.views["qrels"]})
    return frozenset(name for batch in batches for name in batch.column(0).to_pylist())


def sizes(texts: Texts, judged: frozenset[str] | None) -> tuple[int, int]:
    """Texts with a word in them: those of positive documents (all when nobody says), and the others."""
    worded = texts.sketch.counts > 0
    if judged is None:
        return int(worded.sum()), 0
    found = pc.is_in(texts.ids, pa.array(sorted(judged), texts.ids.type))
    inside = np.asarray(found.combine_chunks().to_numpy(zero_copy_only=False), np.bool_)
    return int((worded & inside).sum()), int((worded & ~inside).sum())


def _compare(context: Context, own: Mapping[str, Texts], other: Dataset) -> Compared:
    result = Compared(other)
    if "hashes" in other.views:
        _with_hash_list(own, read_hash_list(other.views["hashes"][0]), result)
    else:
        judged = positives(context, other)
        result.is_judged = judged is not None
        for table in TABLES:
            if table in other.views:
                _with_table(own, of_table(context, other, table), table, judged, result)
    if any(hit.table == "corpus" for hit in result.hits):
        mine = positives(context, context.subject) or frozenset()
        result.hits = [
            dataclasses.replace(hit, is_positive=True) if hit.table == "corpus" and hit.id in mine else hit
            for hit in result.hits
        ]
    result.hits.sort(key=lambda hit: hit.order)
    return result


def _with_table(
    own: Mapping[str, Texts], theirs: Texts, table: str, judged: frozenset[str] | None, result: Compared
) -> None:
    """All our texts with one table of theirs."""

    def part_of(name: str) -> Part:
        if table == "queries":
            return "query"
        return "positive" if judged is None or name in judged else "document"

    inside, outside = sizes(theirs, judged)
    if table == "queries":
        result.sizes["query"] = inside + outside
    else:
        result.sizes["positive"], result.sizes["document"] = inside, outside
    for name, texts in own.items():
        near, spans = near_pairs(texts, theirs), copied_spans(texts, theirs)
        _suppress(result, name, spans)
        digests, other_digests = texts.sketch.digests, theirs.sketch.digests
        found: dict[tuple[int, int], Hit] = {}
        for pair in near.pairs:
            how: How = "exact" if digests[pair.one_row] == other_digests[pair.other_row] else "near"
            key = (pair.one_row, pair.other_row)
            found[key] = Hit(name, pair.one, key[0], part_of(pair.other), pair.other, key[1], how, pair.value)
        for pair in spans.pairs:
            key = (pair.one_row, pair.other_row)
            hit = Hit(name, pair.one, key[0], part_of(pair.other), pair.other, key[1], "span", pair.value)
            found.setdefault(key, hit)
        for one, other, value, kind in _wholes(name, texts, table, theirs, result):
            mine, other_id = texts.names([one])[0], theirs.names([other])[0]
            hit = Hit(name, mine, one, part_of(other_id), other_id, other, kind, value)
            found.setdefault((one, other), hit)
        result.hits += found.values()


def _wholes(
    name: str, texts: Texts, table: str, theirs: Texts, result: Compared
) -> Iterator[tuple[int, int, float, How]]:
    """Short questions inside longer texts: our row, theirs, words of the question, and whose it is."""
    if name == "queries":
        for one, other, value in _questions_in(texts, theirs, result):
            yield one, other, value, "whole"
    if table == "queries":
        for other, one, value in _questions_in(theirs, texts, result, name):
            yield one, other, value, "inside"


def _questions_in(
    questions: Texts, texts: Texts, result: Compared, table: str = "queries"
) -> list[tuple[int, int, float]]:
    """Short questions that stand whole in longer texts, read: (question, text, words of the question)."""
    sketch = questions.sketch
    found = whole_texts(sketch.digests, sketch.halves, texts)
    _left_short(result, table, found)
    rows, others = (np.array([pair[at] for pair in found.pairs], np.int64) for at in (0, 1))
    read = standing_in(questions, texts, rows, others)
    return [(one, other, float(sketch.halves[one]) / 2) for one, other in read]


def _left_short(result: Compared, table: str, found: Wholes) -> None:
    """Count the questions that were not sought, or found to be stock phrases."""
    counted = result.short.setdefault(table, {})
    for why, count in (
        (f"questions of less than {LEAST} words are not sought inside longer texts", found.too_short),
        (f"stock phrases: short questions that stand in more than {STOCK} texts", found.stock),
    ):
        counted[why] = counted.get(why, 0) + count


def _suppress(result: Compared, table: str, matches: Matches) -> None:
    before = result.suppressed.get(table, (0, 0, 0))
    seen = matches.suppressed
    result.without_tokens[table] = result.without_tokens.get(table, 0) + matches.without_tokens
    now = (seen.fingerprints, seen.postings, seen.texts)
    result.suppressed[table] = (before[0] + now[0], before[1] + now[1], before[2] + now[2])


def _with_hash_list(own: Mapping[str, Texts], listed: Listed, result: Compared) -> None:
    """All our texts with a hash list; of theirs only ids are known."""
    result.is_hash_list = True
    result.sizes = listed.sizes
    result.is_judged = bool(listed.about["is_judged"])
    for name, texts in own.items():
        matches = match_hash_list(texts, listed.texts)
        _suppress(result, name, matches)
        for pair in matches.pairs:
            part: Part = listed.parts[pair.other_row]  # type: ignore[assignment]  # checked on reading
            how: How = "exact" if pair.is_exact else "span"
            run = (pair.token, pair.tokens)
            result.hits.append(
                Hit(name, pair.one, pair.one_row, part, pair.other, pair.other_row, how, pair.value, run)
            )
        _listed_questions_in(name, texts, listed, result)
        if name == "queries":
            halves = texts.sketch.halves
            count = int(((halves > 0) & (halves < 2 * SPAN)).sum())
            result.short[name]["a hash list cannot show a short question of ours inside a longer text"] = (
                count
            )


def _listed_questions_in(table: str, texts: Texts, listed: Listed, result: Compared) -> None:
    """Short questions of a hash list that stand whole in our texts, by their hashes."""
    hashes = listed.texts
    asked = np.array([part == "query" for part in listed.parts], np.bool_)
    found = whole_texts(hashes.digests, hashes.halves, texts, asked)
    _left_short(result, table, found)
    ids = hashes.ids.take(pa.array([row for row, _ in found.pairs], pa.int64())).to_pylist()
    names = texts.names([row for _, row in found.pairs])
    known = {(hit.row, hit.other_row) for hit in result.hits if hit.table == table}
    for (other, row), name, other_id in zip(found.pairs, names, ids, strict=True):
        if (row, other) not in known:
            words = float(hashes.halves[other]) / 2
            result.hits.append(Hit(table, name, row, "query", other_id, other, "inside", words))


def coverage(result: Compared, table: str, compared: int, unread: int) -> list[Coverage]:
    """What one rule looked at in one other benchmark, and what was left out."""
    name = result.dataset.name
    covered = [Coverage(compared_with=name, compared=compared, unit="pairs of texts")]

    def left_out(unit: str, count: int, why: str) -> None:
        if count:
            covered.append(Coverage(compared_with=name, compared=0, unit=unit, skipped=count, why=why))

    fingerprints, postings, texts = result.suppressed.get(table, (0, 0, 0))
    boilerplate = (
        f"boilerplate: runs of words that stand in very many texts ({postings} places in {texts} texts)"
    )
    left_out("fingerprints suppressed", fingerprints, boilerplate)
    left_out("texts", result.without_tokens.get(table, 0), "no letter or digit in the text")
    for why, count in sorted(result.short.get(table, {}).items()):
        left_out("short questions", count, why)
    left_out("rows", unread, "could not be read as written: see the layout's problems")
    return covered


def unread_rows(context: Context, dataset: Dataset) -> int:
    """Rows of another benchmark that could not be read."""
    files: Sequence[Path] = dataset.views.get("problems", ())
    if not files:
        return 0
    text = """SELECT count(*) AS n FROM problems WHERE reason IN
        ('not_json', 'not_an_object', 'not_utf8', 'line_too_long', 'wrong_columns', 'missing_id',
         'file_unreadable', 'file_too_large', 'file_not_recognised')"""
    return int(next(iter(context.query(text, {"problems": files}))).to_pylist()[0]["n"])
