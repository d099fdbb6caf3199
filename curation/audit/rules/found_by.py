"""The rule on what found graded pairs: it is said of every positive of a judge, and said rightly."""

from __future__ import annotations

from curation.audit.rule import Check, Defect, Rule
from curation.audit.rules.planting import ids_of, set_row

_OTHERS = "list_filter(found_by, lambda one: split_part(one, ':', 2) <> 'reasoning')"
_FLAG = f"""SELECT "query-id" AS q, "corpus-id" AS c FROM judgements
    WHERE only_reasoning IS DISTINCT FROM coalesce(len({_OTHERS}) = 0, false)"""
_NOTHING = 'SELECT "query-id" AS q, "corpus-id" AS c FROM judgements WHERE coalesce(len(found_by), 0) = 0'
_UNSAID = """SELECT r."query-id" AS q, r."corpus-id" AS c FROM qrels r
    ANTI JOIN judgements f ON f."query-id" = r."query-id" AND f."corpus-id" = r."corpus-id"
    WHERE r.label_status = 'judge' AND r.score > 0"""

RULES = (
    Rule(
        "found_by",
        1,
        "What found each positive",
        "Where it is published what found pairs, it says so of every positive that a judge made one, and "
        "`only_reasoning` holds exactly where no view but the reasoning path found the pair.",
        "error",
        "pairs",
        checks=(
            Check(
                "only_reasoning is not what found_by says",
                _FLAG,
                (
                    Defect(
                        "a pair wrongly called found by reasoning alone",
                        set_row("judgements", "only_reasoning = true, found_by = ['bm25:answer:1']"),
                    ),
                    Defect(
                        "a pair found by reasoning alone that is not called so",
                        set_row("judgements", "only_reasoning = false, found_by = ['bm25:reasoning:1']"),
                    ),
                ),
            ),
            Check(
                "nothing is said to have found the pair",
                _NOTHING,
                Defect("a pair that nothing found", set_row("judgements", "found_by = []")),
            ),
            Check(
                "a positive of a judge that nothing is said to have found",
                _UNSAID,
                Defect(
                    "a positive whose finders are lost",
                    f"""UPDATE qrels SET label_status = 'judge', score = 2 WHERE rowid = 0;
                    DELETE FROM judgements WHERE ("query-id", "corpus-id") IN (
                        SELECT ("query-id", "corpus-id") FROM qrels WHERE rowid = 0)
                    RETURNING {ids_of("judgements")}""",
                ),
            ),
        ),
        compared="FROM judgements",
        tables=("qrels",),
        about=("judgements",),
        holds="what found pairs",
    ),
)
