"""Candidates whose document repeats its query: people may find it relevant, but finding it proves nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curation.audit.rules.spans import MIN_VERBATIM
from curation.release.reviewed import Copied
from curation.similarity.text.engine import SPAN, copied_in, standing_in
from curation.similarity.text.sketch import Texts
from schemas.review import ReviewCandidate


def copies(candidates: Sequence[ReviewCandidate]) -> list[Copied]:
    """Candidates that the audit's rules self_match and image_self_match would find as positives, by id.

    Judged by what was shown: a verdict counts only while the published row is exactly that. Pictures count
    by their source file; near copies of a query's picture are excluded by the task itself.
    """
    rows = sorted(candidates, key=lambda item: item.id)
    shown = [{item.name: item.value for item in row.shown} for row in rows]
    names = [row.id for row in rows]
    queries = Texts.of("queries", names, [fields.get("query_text", "") for fields in shown])
    documents = Texts.of("corpus", names, [fields.get("document_text", "") for fields in shown])
    found = {
        place: "query and document show the same image"
        for place, fields in enumerate(shown)
        if set(fields.get("query_image", "").split()) & set(fields.get("document_image", "").split())
    }
    for place, words in _repeated(queries, documents, len(rows)):
        found[place] = f"query and document share {words:g} consecutive words"
    return [Copied(candidate_id=names[place], detail=detail) for place, detail in sorted(found.items())]


def _repeated(queries: Texts, documents: Texts, count: int) -> list[tuple[int, float]]:
    """(row, words) of pairs that share SPAN words in a row, or whose shorter query is in the text whole."""
    if not count:
        return []
    every = np.arange(count, dtype=np.int64)
    halves = queries.sketch.halves
    short = every[(halves >= 2 * MIN_VERBATIM) & (halves < 2 * SPAN)]
    runs = [(one, words) for one, _, words in copied_in(queries, documents, every, every)]
    return runs + [(one, float(halves[one]) / 2) for one, _ in standing_in(queries, documents, short, short)]
