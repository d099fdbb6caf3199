"""The report in words: its opening sentences and the names of what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.review import CANNOT_JUDGE
from schemas.wording import counted

COEFFICIENTS = {
    "percent_agreement": "Percent agreement",
    "cohen_kappa": "Cohen's κ",
    "cohen_kappa_linear": "Cohen's κ, linear weights",
    "cohen_kappa_quadratic": "Cohen's κ, quadratic weights",
    "krippendorff_alpha_nominal": "Krippendorff's α, nominal",
    "krippendorff_alpha_ordinal": "Krippendorff's α, ordinal",
    "krippendorff_alpha_interval": "Krippendorff's α, interval",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2_linear": "Gwet's AC2, linear weights",
    "gwet_ac2_quadratic": "Gwet's AC2, quadratic weights",
}
DIMENSIONS = {
    "specialty": "By specialty",
    "language": "By language of the query",
    "tier": "By difficulty tier",
    "annotator_pair": "By pair of annotators",
}
REASONS = {
    "one_rater": "fewer than two annotators gave a grade",
    "no_overlap": "no item has two grades",
    "one_grade": "only one grade was given, so that no disagreement is expected",
    "one_item": "only one item has two grades",
    "no_spread": "every bootstrap sample gives the same value",
    "unstable": "too few items: undefined in more than 5 % of bootstrap samples",
    "wide_interval": "the interval is wider than ±0.2",
}
SHORT_REASONS = {
    "one_rater": "one annotator",
    "no_overlap": "no item twice",
    "one_grade": "only one grade",
    "one_item": "only one item",
    "no_spread": "no spread",
    "unstable": "too few items",
}
UNMEASURED = {
    "no_items": "none of its pairs was judged",
    "stratum_not_reviewed": "a part of its pairs was not judged at all",
    "not_random": "what was judged so far is no random sample",
    "too_few": "too few pairs were judged",
    "under_floor": "the lower bound is below the floor",
    "at_floor": "the lower bound is not below the floor",
}
"""Why a share was not measured, or what became of a rule (annotation.agreement.precision.Reason)."""
DECISIONS = {
    "keep": "keeps its labels",
    "downgrade": "keeps only what people judged",
    "not_run": "nothing decided",
}
"""What becomes of a rule."""
LEFT_OUT = {
    "superseded": "that the same annotator replaced by another one",
    "withdrawn": "that were deleted on the server",
    "conflict": "in conflict with another answer of the same annotator",
    "unknown_candidate": "to items that are no longer in the pool",
}
RARE = 0.8
"""Share of one grade above which α and κ rest on few items."""
_NAMED = 6
_SPACE = "\N{NO-BREAK SPACE}"
_GROUPS = {
    "all": ("", ""),
    "specialty": ("specialty", "specialties"),
    "language": ("language", "languages"),
    "tier": ("tier", "tiers"),
    "annotator_pair": ("the pair", "the pairs"),
}
_MAIN = {
    "krippendorff_alpha_nominal": "Krippendorff's nominal α",
    "krippendorff_alpha_ordinal": "Krippendorff's ordinal α",
}


def number(value: float | None, digits: int = 2) -> str:
    """A figure, a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """`low to high`, '' when there is no interval."""
    return "" if low is None else f"{number(low, digits)} to {number(high, digits)}"


def percent(value: float | None) -> str:
    """A share as a whole percentage; 100 % and 0 % only when it is all or none."""
    if value is None:
        return "–"
    whole = round(100 * value)
    whole = min(99, whole) if value < 1 else whole
    return f"{max(1, whole) if value > 0 else whole}{_SPACE}%"


def reason_of_ungraded(code: str) -> str:
    """Why an item was left without a grade, as the layouts say it."""
    return CANNOT_JUDGE.get(code, code)


def group_name(dimension: str, group: str) -> str:
    """`A1 and A2`, `cardiology`, `all items`."""
    if dimension == "all":
        return "all items"
    return " and ".join(group.split("|")) if dimension == "annotator_pair" else group


def figure(summary: Mapping[str, Any], coefficient: str) -> Mapping[str, Any] | None:
    """One figure of all items, None when nobody answered."""
    for row in summary["figures"]:
        if row["dimension"] == "all" and row["coefficient"] == coefficient:
            return dict(row)
    return None


def opening(summary: Mapping[str, Any]) -> list[str]:
    """What the report says, in sentences: size, main figure, cautions, too little to say, alarms."""
    return [
        *_size(summary["counts"]),
        *_main(summary),
        *_caution(summary),
        *_too_little(summary["too_little"]),
        *_gold(summary["gold"]),
    ]


def _size(counts: Mapping[str, Any]) -> list[str]:
    if not counts["answers"]:
        return [f"Nobody has answered any of the {counted(counts['items'], 'item')} yet."]
    text = (
        f"{counted(counts['people'], 'annotator')} answered {counts['items_answered']:,} of "
        f"{counted(counts['items'], 'item')} and gave {counted(counts['grades'], 'grade')}"
    )
    if counts["cannot_judge"]:
        text += f"; {counted(counts['cannot_judge'], 'time')} they could not judge"
    lines = [f"{text}. {_twice(counts['items_graded_twice'])}"]
    if counts["left_out"]:
        parts = [f"{number:,} {LEFT_OUT.get(why, why)}" for why, number in counts["left_out"].items()]
        lines.append(f"Answers not counted: {'; '.join(parts)}.")
    return lines


def _twice(items: int) -> str:
    has = "has" if items == 1 else "have"
    return f"{counted(items, 'item') if items else 'No item'} {has if items else 'has'} two grades or more."


def _main(summary: Mapping[str, Any]) -> list[str]:
    found, same = figure(summary, summary["main"]), figure(summary, "percent_agreement")
    if found is None or same is None:
        return []
    name = _MAIN[summary["main"]]
    if found["value"] is None:
        text = f"{name} is undefined: {REASONS[found['reason']]}."
    elif found["low"] is None:
        text = f"{name} is {number(found['value'])}, without an interval: {REASONS[found['reason']]}."
    else:
        level = round(100 * summary["method"]["confidence"])
        reach = interval(found["low"], found["high"])
        text = f"{name} is {number(found['value'])} ({level}{_SPACE}% interval {reach})."
    if same["value"] is not None:
        text += f" Two annotators give an item the same grade in {percent(same['value'])} of cases."
    return [text]


def _caution(summary: Mapping[str, Any]) -> list[str]:
    if not summary["counts"]["items_graded_twice"]:
        return []
    totals: dict[str, int] = {}
    for row in summary["annotators"]:
        for grade, count in row["grades"].items():
            totals[grade] = totals.get(grade, 0) + count
    most = max(totals.items(), key=lambda item: (item[1], item[0]), default=("", 0))
    share = most[1] / max(1, sum(totals.values()))
    if share < RARE:
        return []
    return [
        f"{percent(share)} of all grades are {most[0]}: α and κ then rest on few items. Read Gwet's figures "
        "beside them."
    ]


def _too_little(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    parts = []
    for dimension, (one, many) in _GROUPS.items():
        names = [
            f"{group_name(dimension, row['group'])} ({counted(row['items'], 'item')})"
            for row in rows
            if row["dimension"] == dimension
        ]
        if dimension == "annotator_pair" and len(names) > _NAMED:
            parts.append(f"{len(names)} pairs of annotators")
        elif names:
            kind = one if len(names) == 1 else many
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            parts.append(f"{kind} {', '.join(names[:_NAMED])}{more}".strip())
    return [f"Too little to say: {'; '.join(parts)}. There the interval is missing or wider than ±0.2."]


def _gold(gold: Mapping[str, Any]) -> list[str]:
    alarms = [row["annotator"] for row in gold["annotators"] if row["alarm_at"] is not None]
    if not alarms:
        return []
    verb = "misses" if len(alarms) == 1 else "miss"
    return [f"Alarm: {', '.join(alarms)} {verb} more gold items than is accepted."]
