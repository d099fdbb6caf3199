"""The published tables about a judge: what it said of every pair, and what people say of a sample."""

from __future__ import annotations

from schemas.columns import PAIR, PAIR_KEY, flag, number, text
from schemas.published import STRINGS, Column, Published

_ASKED = (
    text("query-id", "id of a query that the judge was asked about; in queries only if it is released"),
    PAIR[1],
)
"""A query is kept for what the judge said of it, so what measures the judge may not hang on the kept ones."""

JUDGEMENTS = Published(
    "judgements",
    "provenance/judgements",
    "Every pair that was mined for the judge, of queries that are not released too: what found it, and what "
    "the judge said in each order.",
    (
        *_ASKED,
        number("score", "grade the judge gave, null where it gave none", may_be_null=True),
        text("reason", "exclusion code; not_run: no valid answer; '' where there is a grade", repeats=True),
        text("forward", "0 to 3 for each axis in the first order, '' when not judged", repeats=True),
        text("reversed", "the same in the other order", repeats=True),
        text(
            "seeded",
            "scores in the first order, asked again with a seed; '' where it was not, or not judged so",
            repeats=True,
            since=4,
        ),
        Column("found_by", STRINGS, "what found it: system:view:rank, as bm25:answer:3, or citation"),
        flag("only_reasoning", "no view but the reasoning path of a language model found it"),
        text("model", "model as it was asked for, '' when not judged", repeats=True),
        text("served_model", "model as the server named it, '' when it did not", repeats=True),
        text("prompt_sha256", "hex SHA-256 of all that the prompts have in common", repeats=True),
    ),
    PAIR_KEY,
    reader="auditor",
    is_optional=True,
)
CALIBRATION = Published(
    "calibration",
    "provenance/calibration",
    "The pairs drawn to measure how far the judge agrees with people, and what both say of them: a sample of "
    "all `judgements`, and of unlabelled results of systems.",
    (
        *_ASKED,
        text("stratum", "cell of the judge's scores, unstable, not_judged, or unjudged", repeats=True),
        number("population", "pairs of the stratum that could be drawn"),
        number("drawn", "pairs drawn of them: drawn / population is the chance each had"),
        number("judge", "what the judge concluded: 0, 1 (between) or 2; null for nothing", may_be_null=True),
        number("people", "the verdict of two people or an adjudicator; null while none", may_be_null=True),
        Column("answers", STRINGS, "each answer: role, pseudonym, grade or -, as annotator:A1:2", since=4),
    ),
    PAIR_KEY,
    reader="auditor",
    is_optional=True,
)
