"""The overlap matrix as the page draws it: one table, parts down, dimensions and audited parts across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curation.audit.page.wording import DIMENSIONS
from schemas.audit import AuditReport, OverlapCell, RuleResult
from schemas.overlap_policy import DIMENSIONS as ORDER

_GROUPS = ("same task", "sibling task", "other benchmark")
_STRONG, _MEDIUM = 0.10, 0.01
_FALLBACK = {
    "query": ("overlap_query", "contaminated_queries"),
    "image_family": ("overlap_image_family", "overlap_image_copies", "contaminated_images"),
}


@dataclass(frozen=True, slots=True)
class Square:
    """One square of the heat map. `kind` is its style; `words` say the same to those who see no colour."""

    kind: str
    figure: str
    words: tuple[str, ...]
    label: str
    target: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One compared pair of parts in full, and the rules that compared it."""

    anchor: str
    dimension: str
    one: str
    other: str
    shared: int | None
    keys: int
    level: str
    rules: tuple[RuleResult, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """One other part and its squares, `None` where nothing was compared."""

    name: str
    group: str
    squares: tuple[Square | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """The heat map and the list of all its pairs."""

    ones: tuple[str, ...]
    dimensions: tuple[str, ...]
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    task: str

    def count(self, *kinds: str) -> int:
        """How many pairs are of some kinds."""
        return sum(pair.kind in kinds for pair in self.pairs)

    def forbidden(self) -> int:
        """How many pairs were compared that must share nothing."""
        return sum(pair.level == "zero" and pair.shared is not None for pair in self.pairs)

    def rules(self, dimension: str) -> list[RuleResult]:
        """Rules that compared parts along a dimension, in the order they are met."""
        chosen = (rule for pair in self.pairs if pair.dimension == dimension for rule in pair.rules)
        return list({rule.rule: rule for rule in chosen}.values())

    def groups(self) -> list[tuple[str, tuple[Row, ...]]]:
        """Rows by group: splits of the task, sibling tasks, other benchmarks."""
        found = ((name, tuple(row for row in self.rows if row.group == name)) for name in _GROUPS)
        return [(name, rows) for name, rows in found if rows]

    def column(self, part: str) -> str:
        """Name of an audited part without its task."""
        return _without(part, self.task) or part

    def name(self, part: str) -> str:
        """Name of another part; an absent sibling stands for all its splits."""
        return f"{part[:-2]} (all splits)" if part.endswith("/*") else part


def _without(part: str, task: str) -> str:
    """The split of a part of a task, '' when the part is of another."""
    if part == task:
        return "all splits"
    return part.removeprefix(f"{task}/") if part.startswith(f"{task}/") else ""


def build(report: AuditReport) -> Matrix | None:
    """Arrange a report's overlap cells; None when it has none.

    Cells of one pair and dimension come from several rules (equal pictures, cropped copies): the square shows
    the worst, the list shows all.
    """
    if not report.matrix:
        return None
    benchmarks = {item.name for item in report.inputs if item.role == "against"}
    ones = tuple(dict.fromkeys(cell.one for cell in report.matrix))
    others = tuple(dict.fromkeys((*(cell.other for cell in report.matrix), *ones)))
    seen = {cell.dimension for cell in report.matrix}
    dimensions = tuple(name for name in ORDER if name in seen)
    pairs = _pairs(report)
    by_place: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        by_place.setdefault((pair.dimension, pair.one, pair.other), []).append(pair)
        if pair.other in ones:
            by_place.setdefault((pair.dimension, pair.other, pair.one), []).append(pair)
    rows = []
    for other in others:
        squares = tuple(
            _square(by_place.get((dimension, one, other), ()), one, other)
            for dimension in dimensions
            for one in ones
        )
        if any(squares):
            rows.append(Row(other, _group(other, report.task, benchmarks), squares))
    return Matrix(ones, dimensions, tuple(rows), pairs, report.task)


def _group(other: str, task: str, benchmarks: set[str]) -> str:
    if other in benchmarks:
        return "other benchmark"
    return "same task" if _without(other, task) else "sibling task"


def _pairs(report: AuditReport) -> tuple[Pair, ...]:
    rank = {name: place for place, name in enumerate(ORDER)}
    by_id = {result.rule: result for result in report.rules}
    benchmarks = {item.name for item in report.inputs if item.role == "against"}
    cells = sorted(report.matrix, key=lambda cell: rank[cell.dimension])
    return tuple(
        Pair(
            anchor=f"pair-{place}",
            dimension=cell.dimension,
            one=cell.one,
            other=cell.other,
            shared=cell.shared,
            keys=cell.keys,
            level=cell.level,
            rules=_rules_of(cell, by_id, benchmarks),
            kind=_kind(cell),
        )
        for place, cell in enumerate(cells, start=1)
    )


def _rules_of(
    cell: OverlapCell, by_id: dict[str, RuleResult], benchmarks: set[str]
) -> tuple[RuleResult, ...]:
    names = _FALLBACK.get(cell.dimension, (f"overlap_{cell.dimension}",))
    is_other = cell.other in benchmarks
    return tuple(
        by_id[name] for name in names if name in by_id and name.startswith("contaminated") == is_other
    )


def _kind(cell: OverlapCell) -> str:
    if cell.shared is None:
        return "uncovered"
    if not cell.shared:
        return "zero"
    if cell.level != "zero":
        return cell.level
    share = cell.shared / cell.keys if cell.keys else 1.0
    return "breach-3" if share >= _STRONG else "breach-2" if share >= _MEDIUM else "breach-1"


_WORST = ("zero", "allowed", "reported", "uncovered", "breach-1", "breach-2", "breach-3")


def _square(pairs: Sequence[Pair], one: str, other: str) -> Square | None:
    if not pairs:
        return None
    pair = max(pairs, key=lambda item: (_WORST.index(item.kind), item.shared or 0))
    figure = "not covered" if pair.shared is None else f"{pair.shared:,}"
    of = f"of {pair.keys:,}" if pair.shared is not None else ""
    said = {
        "zero": "none shared, as required" if pair.level == "zero" else "none shared",
        "uncovered": "could not be compared",
        "allowed": "allowed by the policy",
        "reported": "reported only, no error",
    }.get(pair.kind, "must be zero")
    remark = "must be 0" if pair.kind.startswith("breach") else pair.kind
    words = (of,) if pair.kind == "zero" else () if pair.kind == "uncovered" else (of, remark)
    target = pair.anchor
    if pair.kind.startswith("breach"):
        target = next((f"rule-{rule.rule}" for rule in pair.rules if rule.found), target)
    label = f"{DIMENSIONS[pair.dimension]}, {one} and {other}: {figure} {of}, {said}".replace(" ,", ",")
    return Square(pair.kind, figure, words, label, target)
