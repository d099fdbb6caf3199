"""Rules on other benchmarks: what of the audited dataset a model may have met in one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from curation.audit.rule import (
    MAX_EXAMPLES,
    Check,
    Context,
    NotApplicable,
    NotAsked,
    NotCovered,
    Outcome,
    Rule,
    side,
)
from curation.audit.rules import contamination_defects as defects
from curation.audit.rules import contamination_images, contamination_sources
from curation.audit.rules.contamination_texts import (
    Compared,
    Hit,
    compare,
    coverage,
    of_table,
    ours,
    positives,
    sizes,
    unread_rows,
)
from curation.audit.rules.overlap_keys import splits_sql
from curation.similarity.text.engine import NEAR, SPAN, Texts, char_span, locate
from curation.similarity.text.whole import LEAST, STOCK
from schemas.audit import Coverage, Finding, OverlapCell, Side

_PARTS = {"query": "query", "positive": "positive document", "document": "document"}
_OURS = {"queries": "the query", "corpus": "the document"}


def _require(context: Context) -> None:
    if not context.against:
        raise NotAsked("no other benchmark was named (--against)")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The closest copy of one text of ours in benchmark `number`, and how many `more` there are."""

    number: int
    hit: Hit
    more: int

    @property
    def key(self) -> tuple[int, str, int]:
        """Which text of theirs it is."""
        return (self.number, self.hit.part, self.hit.other_row)


def _closeness(hit: Hit) -> tuple[int, float, tuple[str, str, int, str, int, int]]:
    """Exact copies first, then near ones, then the longest span; equal ones in order of ids."""
    return (("exact", "near", "whole", "inside", "span").index(hit.how), -hit.value, hit.order)


@dataclass(frozen=True, slots=True)
class _TextRule:
    """A rule that takes its share of the comparison all three have in common."""

    id: str
    table: str
    takes: Callable[[Hit], bool]
    parts: Callable[[bool], tuple[str, ...]]
    """Whether our document is positive -> parts of theirs it is compared with."""
    has_matrix: bool = False

    def __call__(self, context: Context) -> Outcome:
        """Compare with every other benchmark."""
        _require(context)
        own = self._sizes(context)
        if not any(count for is_positive, count in own.items() if self.parts(is_positive)):
            raise NotApplicable("the dataset has no such text")
        results = compare(context)
        chosen = [item for number, result in enumerate(results) for item in self._worst(number, result)]
        covered: list[Coverage] = []
        compared = 0
        for result in results:
            pairs = sum(
                count * sum(result.sizes.get(part, 0) for part in self.parts(is_positive))
                for is_positive, count in own.items()
            )
            compared += pairs
            covered += coverage(result, self.table, pairs, unread_rows(context, result.dataset))
        return Outcome(
            compared=compared,
            found=len(chosen),
            findings=self._findings(context, results, chosen[:MAX_EXAMPLES]),
            note=self._note(context, results),
            coverage=tuple(covered),
            matrix=self._matrix(context, results) if self.has_matrix else (),
            nothing=self._nothing(compared, results),
        )

    def _nothing(self, compared: int, results: Sequence[Compared]) -> str:
        """Why no pair is this rule's, although there are texts on both sides."""
        if compared or not any(any(result.sizes.values()) for result in results):
            return ""
        return "every pair of texts is compared by another rule"

    def _sizes(self, context: Context) -> dict[bool, int]:
        """Number of our texts by whether they are positive documents."""
        context.count(self.table)
        if self.table == "corpus" and "qrels" not in context.views and not self.parts(False):
            raise NotCovered("table absent: qrels")
        judged = positives(context, context.subject) if self.table == "corpus" else frozenset()
        inside, outside = sizes(ours(context)[self.table], judged or frozenset())
        return {True: inside, False: outside}

    def _worst(self, number: int, result: Compared) -> list[_Chosen]:
        """For each text of ours its closest copy, with the number of the others."""
        found: dict[int, list[Hit]] = {}
        for hit in result.hits:
            if self.takes(hit):
                found.setdefault(hit.row, []).append(hit)
        return [_Chosen(number, min(hits, key=_closeness), len(hits) - 1) for hits in found.values()]

    def _findings(
        self, context: Context, results: Sequence[Compared], chosen: Sequence[_Chosen]
    ) -> tuple[Finding, ...]:
        mine = ours(context)[self.table].take([item.hit.row for item in chosen]) if chosen else {}
        theirs = _quotes(context, results, chosen)
        return tuple(self._finding(results[item.number], item, mine, theirs.get(item.key)) for item in chosen)

    def _finding(
        self, result: Compared, item: _Chosen, texts: Mapping[int, str], other: str | None
    ) -> Finding:
        name, hit = result.dataset.name, item.hit
        text = texts[hit.row]
        how = {
            "exact": "is word for word",
            "near": f"is nearly ({hit.value:.0%})",
            "span": f"shares {hit.value:g} consecutive words with",
            "whole": f"stands whole ({hit.value:g} words) in",
            "inside": f"holds all {hit.value:g} words of",
        }[hit.how]
        table = "queries" if hit.part == "query" else "corpus"
        mine, their = side(self.table, hit.id, text), side(table, hit.other_id, dataset=name)
        if other is not None:
            mine, their = _both(mine, their, text, other, whole=hit.how == "exact")
        elif hit.run[1]:
            mine = side(self.table, hit.id, text, *char_span(text, *hit.run))
        message = f"{_OURS[self.table]} {how} a {_PARTS[hit.part]} of {name}"
        if item.more:
            message += f", and {item.more} more of its texts have words in common with it"
        return Finding(rule=self.id, severity="error", message=message, sides=(mine, their))

    def _note(self, context: Context, results: Sequence[Compared]) -> str:
        notes = []
        for result in results:
            name = result.dataset.name
            if not any(result.sizes.values()):
                notes.append(f"{name} has no text")
            elif not result.is_judged and self.table == "corpus":
                notes.append(f"{name} has no qrels: all its documents count as positive")
            if result.is_hash_list:
                notes.append(f"{name} is a hash list: no text to quote, near-duplicates show as copied runs")
            if self.table == "corpus":
                notes += contamination_sources.note(context, result.dataset)
        return "; ".join(notes)

    def _matrix(self, context: Context, results: Sequence[Compared]) -> tuple[OverlapCell, ...]:
        """Per split and other benchmark: how many queries stand there too."""
        tables = [name for name in ("queries", "provenance_queries") if name in context.views]
        split_of: dict[str, str] = {}
        totals: dict[str, int] = {}
        for batch in context.batches(f"SELECT q, split FROM ({splits_sql(context.subject)})", *tables):
            for query, split in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                split_of[query] = split
                totals[split] = totals.get(split, 0) + 1
        cells = []
        for split in sorted(totals):
            for result in results:
                hit = {
                    item.id
                    for item in result.hits
                    if item.table == "queries" and split_of.get(item.id) == split
                }
                one = f"{context.subject.task}/{split}" if split else context.subject.task
                theirs = sum(result.sizes.values())
                cells.append(
                    OverlapCell(
                        dimension="query",
                        one=one,
                        other=result.dataset.name,
                        level="zero",
                        shared=len(hit),
                        keys=min(totals[split], theirs),
                    )
                )
        return tuple(cells)


def _quotes(
    context: Context, results: Sequence[Compared], chosen: Sequence[_Chosen]
) -> dict[tuple[int, str, int], str]:
    """Texts of theirs that findings quote."""
    found: dict[tuple[int, str, int], str] = {}
    wanted: dict[tuple[int, str], set[tuple[str, int]]] = {}
    for item in chosen:
        table = "queries" if item.hit.part == "query" else "corpus"
        wanted.setdefault((item.number, table), set()).add((item.hit.part, item.hit.other_row))
    for (number, table), rows in sorted(wanted.items()):
        if results[number].is_hash_list:
            continue
        texts: Texts = of_table(context, results[number].dataset, table)
        held = texts.take(sorted({row for _, row in rows}))
        found.update({(number, part, row): held[row] for part, row in rows})
    return found


def _both(mine: Side, their: Side, text: str, other: str, *, whole: bool) -> tuple[Side, Side]:
    """Both sides with the words they share."""
    located = locate(text, other)
    if located is None:
        return mine, side(their.table, their.id, other, dataset=their.dataset)
    one = (0, len(text)) if whole else located.one
    two = (0, len(other)) if whole else located.other
    return (
        side(mine.table, mine.id, text, *one),
        side(their.table, their.id, other, *two, dataset=their.dataset),
    )


_ALL = ("query", "positive", "document")
_FIRST = ("query", "positive")
_queries = _TextRule(
    "contaminated_queries", "queries", lambda hit: hit.table == "queries", lambda _: _ALL, True
)
_positives = _TextRule(
    "contaminated_positives",
    "corpus",
    lambda hit: hit.table == "corpus" and hit.is_positive and hit.part != "document",
    lambda is_positive: _FIRST if is_positive else (),
)
_documents = _TextRule(
    "contaminated_documents",
    "corpus",
    lambda hit: hit.table == "corpus" and not (hit.is_positive and hit.part != "document"),
    lambda is_positive: ("document",) if is_positive else _ALL,
)


def _images(context: Context) -> Outcome:
    _require(context)
    return contamination_images.check(context)


_HOW = (
    f"the same words in the same order; or at least {NEAR:.0%} of the words of both in order (shorter "
    f"than {SPAN} words: the same words, or all but one that differs by a letter); or a run of {SPAN} words; "
    f"or the whole of a question of {LEAST} to {SPAN - 1} words, ours or theirs, inside a longer text (one "
    f"that stands in more than {STOCK} texts is a stock phrase)"
)
_rule = partial(Rule, severity="error", unit="pairs of texts", is_required=False)
RULES = (
    _rule(
        "contaminated_queries",
        2,
        "No query stands in another benchmark",
        f"No query has in common with any text of a named benchmark: {_HOW}.",
        checks=(Check("a query stands in another benchmark", _queries, defects.QUERIES, at_once=True),),
    ),
    _rule(
        "contaminated_positives",
        2,
        "No positive document answers in another benchmark",
        f"No positive document has in common with a query or positive document of a named benchmark: {_HOW}.",
        checks=(
            Check(
                "a positive document answers in another benchmark",
                _positives,
                defects.POSITIVES,
                at_once=True,
            ),
        ),
    ),
    _rule(
        "contaminated_documents",
        2,
        "Documents shared with another benchmark",
        f"No other pair of documents, ours and a named benchmark's, has in common: {_HOW}.",
        severity="warn",
        checks=(
            Check("a document stands in another benchmark", _documents, defects.DOCUMENTS, at_once=True),
        ),
    ),
    _rule(
        "contaminated_images",
        1,
        "No image stands in another benchmark",
        contamination_images.DEFINITION,
        unit="pairs of images",
        checks=(
            Check(
                "an image stands in another benchmark", _images, contamination_images.DEFECTS, at_once=True
            ),
        ),
    ),
)
