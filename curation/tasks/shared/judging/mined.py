"""Every pair that was mined for a judge, with what found it and what the judge said of it.

Of queries that are not released too: a query is kept only if the judge found it a positive, so a sample of
kept queries alone would be chosen by the verdict that it is to measure.
"""

from __future__ import annotations

from curation.tasks.shared.judging.records import MinedPair
from schemas.stages import Reason, Sql

_TEXT = """
    SELECT f.query_id, f.corpus_id, j.score, if(j.pair IS NULL, '{not_run}', j.reason) AS reason,
        coalesce(split_part(j.scores, '; ', 1), '') AS forward,
        coalesce(split_part(j.scores, '; ', 2), '') AS reversed,
        coalesce(j.seeded, '') AS seeded,
        if(len(f.found_by) = 0, ['citation'], f.found_by) AS found_by,
        len(f.found_by) > 0
            AND len(list_filter(f.found_by, lambda one: split_part(one, ':', 2) <> 'reasoning')) = 0
            AS only_reasoning, coalesce(j.model, '') AS model, coalesce(j.served_model, '') AS served_model,
        coalesce(j.prompt_sha256, '') AS prompt_sha256
    FROM {asked} AS p JOIN {found} AS f ON f.pair = p.id LEFT JOIN {judged} AS j ON j.pair = p.id
"""


def mined_pairs(asked: str = "asked", found: str = "found", judged: str = "judged") -> Sql:
    """The statement of a task's table `judgements`: rows of `MinedPair`, those without a judgement too.

    Args:
        asked: view of AskedPair rows.
        found: view with `pair` and `found_by`, a row for each of them; what nothing found was cited.
        judged: view of JudgedPair rows.
    """
    text = _TEXT.format(asked=asked, found=found, judged=judged, not_run=Reason.NOT_RUN)
    return Sql(text, MinedPair, ("query_id", "corpus_id"))
