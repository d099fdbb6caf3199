"""The rule on the published `keys` table: it says what the published files themselves say, and no less."""

from __future__ import annotations

import hashlib

import pyarrow as pa

from curation.audit.rule import MAX_EXAMPLES, Check, Context, Defect, Outcome, Rule, side
from curation.audit.rules.overlap_defects import Rest, itself, positive, stated
from curation.audit.rules.overlap_keys import keep, require, stated_sql, texts_of
from curation.audit.rules.planting import new_row
from curation.published.query import Views, fetch, fetch_one
from curation.tasks.registry import TASKS, level
from schemas.audit import Coverage, Finding
from schemas.overlap_policy import DIMENSIONS

_ID = "overlap_keys_true"
_COMPUTED = """(dimension IN ('article', 'patient')
    OR (dimension = 'query' AND NOT starts_with(key, 'near:'))
    OR (dimension = 'image_family' AND starts_with(key, 'sha256:')))"""
"""Keys that can be computed again; what `phash:` and target concepts stand on is not published, and near
copies of queries are sought in the texts (rules `near_queries_across_splits` and `_tasks`)."""
_NOUN = {"query": "query text or family", "image_family": "image"}
_STATED = pa.schema([pa.field(name, pa.string()) for name in ("q", "dimension", "key", "doc")])
_LACKING = """SELECT q, dimension, key, doc FROM stated ANTI JOIN published USING (q, dimension, key)"""
_EXTRA = f"""SELECT DISTINCT q, dimension, key, NULL AS doc FROM published
    ANTI JOIN stated USING (q, dimension, key) WHERE {_COMPUTED} AND key NOT IN ('', sha256(''))"""
_WRONG = f"""WITH published AS (SELECT "query-id" AS q, dimension, key FROM keys)
    SELECT *, count(*) OVER () AS total FROM ({{wrong}}) ORDER BY q, dimension, key LIMIT {MAX_EXAMPLES}"""


def _views(context: Context) -> Views:
    """What the files say the keys must be, beside what is published."""
    subject = context.subject
    require("article", subject)
    kept = keep(context, subject, "overlap_stated", stated_sql(subject), _STATED, "stated")
    return {**kept, "keys": subject.views["keys"]}


def _lacking(context: Context) -> Outcome:
    views = _views(context)
    text = f"""SELECT (SELECT count(*) FROM stated) AS computed,
        (SELECT count(*) FROM keys WHERE NOT {_COMPUTED}) AS others"""
    counted = fetch_one(context.query, text, views)
    found, findings = _told(context, _LACKING, "keys lacks the {} that the query rests on{}: {}", views)
    skipped = counted["others"]
    why = "target concepts and pHash families cannot be computed from published files" if skipped else ""
    coverage = Coverage(compared_with="", compared=counted["computed"], unit="keys", skipped=skipped, why=why)
    return Outcome(counted["computed"], found, findings, coverage=(coverage,))


def _extra(context: Context) -> Outcome:
    return Outcome(
        0,
        *_told(context, _EXTRA, "keys states a {} that nothing of the query rests on{}: {}", _views(context)),
    )


def _told(context: Context, wrong: str, message: str, views: Views) -> tuple[int, tuple[Finding, ...]]:
    """How many keys are wrong, and the first of them."""
    rows = fetch(context.query, _WRONG.format(wrong=wrong), views)
    texts = texts_of(context, [context.subject], {(0, "queries"): {row["q"] or "" for row in rows}})
    findings = []
    for row in rows:
        through = f" through its positive {row['doc']}" if row["doc"] else ""
        sides = [
            side("queries", row["q"], texts.get((0, "queries", row["q"]), "")),
            side("keys", f"{row['q']} {row['dimension']} {row['key']}"),
            *([side("corpus", row["doc"])] if row["doc"] else ()),
        ]
        text = message.format(_NOUN.get(row["dimension"], row["dimension"]), through, row["key"])
        findings.append(Finding(rule=_ID, severity="error", message=text, sides=tuple(sides)))
    return (rows[0]["total"] if rows else 0), tuple(findings)


def _without_target(context: Context) -> str:
    """Queries whose target concept keys do not name, where the task or the query has one.

    Text of an article that has to find its own translation is found by all it says: it has no target.
    """
    human = """SELECT "query-id" FROM strings WHERE kind = 'human'"""
    known_items = f"AND id NOT IN ({human})" if "strings" in context.views else ""
    task = context.subject.task
    is_zero = task in TASKS and level(task, task, "target_concept") == "zero"
    targets = """SELECT "query-id" FROM keys
        WHERE dimension = 'target_concept' AND key <> '' AND "query-id" IS NOT NULL"""
    return f"""SELECT id AS q, text FROM queries WHERE id NOT IN ({targets}) {known_items} AND
        ({is_zero} OR EXISTS ({targets}) OR id IN (SELECT id FROM provenance_queries WHERE hides_target))"""


_KEY = """"query-id" AS q, concat_ws(' ', "query-id", dimension, key) AS keys, dimension, key"""
_NO_KEY = f"""SELECT DISTINCT {_KEY}, x.text FROM keys
    LEFT JOIN (SELECT id, min(text) AS text FROM queries GROUP BY id) x ON x.id = "query-id"
    WHERE coalesce(key, '') = '' OR coalesce(dimension, '') NOT IN {DIMENSIONS!r}"""
_NO_QUERY = f"""SELECT DISTINCT {_KEY}, CASE dimension WHEN 'query' THEN 'query text or family'
        WHEN 'image_family' THEN 'image' ELSE dimension END AS noun FROM keys
    WHERE NOT {_COMPUTED} AND coalesce("query-id", '') NOT IN (SELECT id FROM queries WHERE id IS NOT NULL)"""


def _defect(name: str, rest: Rest) -> Defect:
    """A query that rests on one thing in one way."""
    query = f"canary:{name}"
    return Defect(name, f"{rest('', query, 'test')}; SELECT '{query}' AS id")


def _orphan(schema: str, query: str, split: str) -> str:
    return new_row("keys", {"query-id": query, "dimension": "image_family", "key": "phash:canary"})


def _only_another(schema: str, query: str, split: str) -> str:
    return f"{stated('target_concept', 'CANARY:1')('', 'canary:other', split)}; {itself()('', query, split)}"


_IMAGE = hashlib.sha256(b"canary 3").hexdigest()
_CASE = "pmc:PMC000000005.1#case1"
KEYS_TRUE = Rule(
    _ID,
    2,
    "Published keys are true",
    "The published keys are exactly what the published files say each query rests on: its normalised text "
    "and family, and the article, patient and image (SHA-256 as fetched) of the query and of its positive "
    "documents (score above 0). Where a task has target concepts, or a query hides one, keys name it; text "
    "of an article that has to find its own translation (`strings`: human) has none.",
    "error",
    "keys",
    checks=(
        Check(
            "keys lacks what the query rests on",
            _lacking,
            (
                _defect("keys lacks a text", itself("canary")),
                _defect("keys lacks a family", itself(family="canary")),
                _defect("keys lacks an article", itself(article_id="canary")),
                _defect("keys lacks a patient", itself(patient_id=_CASE)),
                _defect("keys lacks an image", itself(image_source_sha256=_IMAGE)),
                _defect("keys lacks the article of a positive", positive(article_id="canary")),
                _defect("keys lacks the patient of a positive", positive(patient_id=_CASE)),
                _defect("keys lacks the image of a positive", positive(image_source_sha256=_IMAGE)),
            ),
            at_once=True,
        ),
        Check(
            "keys states what nothing of the query rests on",
            _extra,
            (
                _defect("keys states another text", stated("query", hashlib.sha256(b"canary").hexdigest())),
                _defect("keys states an article nothing rests on", stated("article", "canary:nowhere")),
                _defect("keys states another patient", stated("patient", _CASE)),
                _defect("keys states another image", stated("image_family", f"sha256:{_IMAGE}")),
            ),
            at_once=True,
        ),
        Check(
            "keys has an empty key or an unknown dimension: {dimension} {key}",
            _NO_KEY,
            (
                _defect("keys states an unknown dimension", stated("canary", "canary")),
                _defect("keys states an empty key", stated("target_concept", "")),
            ),
            at_once=True,
        ),
        Check(
            "keys states a {noun} of a query that is not there: {key}",
            _NO_QUERY,
            _defect("keys states a query that is not there", _orphan),
        ),
        Check(
            "keys states no target concept of the query",
            _without_target,
            (
                _defect("no target of a query that hides one", itself(hides_target=True)),
                _defect("no target of a query where another has one", _only_another),
            ),
        ),
    ),
)
