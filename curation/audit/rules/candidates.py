"""Rules on candidates: what rules found for people to review is never published as labels."""

from __future__ import annotations

from curation.audit.rule import Check, Context, Defect, NotApplicable, NotCovered, Rule
from curation.audit.rules.planting import set_row
from curation.audit.rules.text_rows import literal
from curation.published.manifest import NAME, OF_CANDIDATES
from curation.tasks.registry import TASKS

_PAIRS = "SELECT * FROM qrels WHERE label_status = 'candidate'"
_OF_RULES = "SELECT * FROM qrels WHERE label_status = 'structural'"
_BY_RULE = "label_status = 'structural', rule = 'canary/rule@1'"
_WAITING = set_row("qrels", "label_status = 'candidate'")


def _stated(context: Context) -> bool:
    """Whether release.json calls its pairs candidates.

    Raises:
        NotCovered: nothing says who judged the pairs. NotApplicable: no pair is one, and nothing says so.
    """
    is_stated = context.manifest.label == OF_CANDIDATES
    if "label_status" not in context.columns("qrels"):
        raise NotCovered("who judged the pairs is not stated")
    if not is_stated and not context.select(f"SELECT 1 FROM ({_PAIRS}) LIMIT 1"):
        raise NotApplicable("no pair is a candidate")
    return is_stated


def _waiting(context: Context) -> str:
    _stated(context)
    return 'SELECT "query-id" AS q, "corpus-id" AS c FROM qrels WHERE label_status = \'candidate\''


def _called_publishable(context: Context) -> str:
    _stated(context)
    text = f"SELECT 'publishable_by_content' AS \"{NAME}\", count(*) AS n FROM ({_PAIRS}) HAVING count(*) > 0"
    return text if context.manifest.publishable_by_content else ""


def _called_labels(context: Context) -> str:
    label = context.manifest.label
    text = f"""SELECT 'label' AS "{NAME}", {literal(label)} AS label, count(*) AS n
        FROM ({_PAIRS}) HAVING count(*) > 0"""
    return "" if _stated(context) else text


def _labels_among_them(context: Context) -> str:
    label = literal(context.manifest.label)
    task = TASKS.get(context.subject.task)
    sure = ", ".join(map(literal, task.sure_rules if task else ())) or "''"
    return f"""SELECT "query-id" AS q, "corpus-id" AS c FROM ({_OF_RULES} AND rule NOT IN ({sure}))
        WHERE {label} = '{OF_CANDIDATES}' OR EXISTS ({_PAIRS})"""


RULES = (
    Rule(
        "candidates",
        1,
        "Pairs for review",
        "Pairs that rules found, but not surely enough for a label, are counted; a release that has any may "
        "not be published.",
        "declared",
        "pairs",
        checks=(
            Check(
                "the pair is a candidate for review, not a label",
                _waiting,
                Defect("a pair that waits for review", _WAITING),
            ),
        ),
        compared="FROM qrels",
        tables=("qrels",),
    ),
    Rule(
        "candidates_declared",
        2,
        "Candidates are never published as labels",
        "Where a pair is a candidate, release.json says 'candidates' and is not publishable by content, and "
        "no pair of the same task is called a label because a rule says so, but for rules that the task "
        "declares sure.",
        "error",
        "pairs",
        checks=(
            Check(
                "release.json says publishable by content although {n} pairs are candidates",
                _called_publishable,
                Defect(
                    "a candidate in a publishable release",
                    f"{_WAITING}; SELECT 'publishable_by_content'",
                    stated={"publishable_by_content": True, "label": OF_CANDIDATES},
                ),
            ),
            Check(
                "release.json calls {n} candidates {label!r}",
                _called_labels,
                Defect(
                    "candidates called silver labels",
                    f"{_WAITING}; SELECT 'label'",
                    stated={"label": "silver"},
                ),
            ),
            Check(
                "a rule's pair is called a label where the task has only candidates",
                _labels_among_them,
                (
                    Defect(
                        "a label by rule in a release of candidates",
                        set_row("qrels", _BY_RULE),
                        stated={"label": OF_CANDIDATES},
                    ),
                    Defect(
                        "a label by rule beside a candidate",
                        f"""{set_row("qrels", "label_status = 'candidate'", at=1)};
                        {set_row("qrels", _BY_RULE)}""",
                    ),
                ),
            ),
        ),
        compared="FROM qrels",
        tables=("qrels",),
    ),
)
