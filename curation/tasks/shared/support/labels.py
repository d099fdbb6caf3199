"""What a pair is: by the judge where it judged it, else a candidate where the answer names its document.

A citation, a snippet or a chapter names a document, never a passage: its passages are candidates for review.
Where whole articles are the documents, a citation by the author of the answer is the label.
What nobody judged and nobody cited is a drop, and neither positive nor negative.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from curation.extract.neutralise import restore
from curation.extract.sentences import sentence_spans
from curation.prompts.quotes import locate
from curation.tasks.shared.judging.records import AskedPair, JudgedPair
from curation.tasks.shared.support.records import FoundPair, LabelledPair
from curation.tasks.shared.support.settings import VERSION
from curation.tasks.shared.support.whole import SUFFIX
from schemas.benchmark import Evidence, LabelStatus
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

JUDGED = "judged-support@1"
QUOTED = "quoted-by-answer@1"
CITED = "passage-of-cited@1"
BY_ANSWER = "cited-by-answer@1"
"""The author of the answer names this article: of whole articles that is all a label can say."""
GRADE = 2
OTHER_CITED = "other_passage_of_cited"
"""Exclusion code of schemas.grades."""


def label(
    pair: AskedPair, found: Sequence[FoundPair], judged: Sequence[JudgedPair], *, task: str
) -> Iterator[LabelledPair | Drop]:
    """The label of one pair, or why it has none.

    Args:
        pair: query and passage.
        found: how it was found, one row.
        judged: what the judge concluded, one row or none.
        task: whose rules they are.
    """
    how = found[0]
    if judged:
        one = judged[0]
        yield _row(
            pair,
            one.score,
            one.reason,
            f"{task}/{JUDGED}" if one.score is not None else "",
            "judge",
            one.evidence,
        )
        return
    if not how.is_cited:
        yield Drop(
            unit="pair",
            id=pair.id,
            article_id=pair.article_id,
            reason=Reason.NOT_RUN,
            detail=", ".join(how.found_by),
        )
        return
    source = restore(pair.passage, pair.transforms)
    is_whole = pair.corpus_id.endswith(SUFFIX)
    quoted = [place for text in how.snippets if (place := locate(text, source)) is not None]
    if is_whole:
        spans = sorted(set(quoted)) or sentence_spans(source)[:1]
        yield _row(pair, GRADE, "", f"{task}/{BY_ANSWER}", "structural", _evidence(pair, source, spans))
    elif quoted:
        yield _row(
            pair, GRADE, "", f"{task}/{QUOTED}", "candidate", _evidence(pair, source, sorted(set(quoted)))
        )
    elif how.cited_rank == 1 and not how.snippets:
        yield _row(
            pair,
            GRADE,
            "",
            f"{task}/{CITED}",
            "candidate",
            _evidence(pair, source, sentence_spans(source)[:1]),
        )
    else:
        yield _row(pair, None, OTHER_CITED, "", "candidate", ())


def _row(
    pair: AskedPair,
    score: int | None,
    reason: str,
    rule: str,
    status: LabelStatus,
    evidence: Sequence[Evidence],
) -> LabelledPair:
    return LabelledPair(
        pair=pair.id,
        query_id=pair.query_id,
        corpus_id=pair.corpus_id,
        score=score,
        reason=reason,
        rule=rule,
        label_status=status,
        evidence=tuple(evidence),
    )


def _evidence(pair: AskedPair, source: str, spans: Sequence[tuple[int, int]]) -> list[Evidence]:
    return [
        Evidence(text_id=pair.corpus_id, start=start, end=end, text=source[start:end]) for start, end in spans
    ]


# A named function, not a lambda: stages travel to worker processes.
def _pair_id(pair: AskedPair, _: Sequence[FoundPair], __: Sequence[JudgedPair]) -> list[str]:
    return [pair.id]


def labels_stage(task: str) -> RecordStage:
    """The stage `<task>_labels`: what each pair of a task is."""
    return RecordStage(
        name=f"{task}_labels",
        version=VERSION,
        inputs=(
            Input(f"{task}_pairs.pairs", AskedPair, "id"),
            Input(f"{task}_pairs.found", FoundPair, "pair"),
            Input(f"{task}_judged.judged", JudgedPair, "pair"),
        ),
        outputs=(Table("labelled", LabelledPair, ("pair",)),),
        process=functools.partial(label, task=task),
        accounts=(Account("pair", _pair_id, "labelled", "pair"),),
    )
