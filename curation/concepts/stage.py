"""The ground stage: vocabulary concepts named in captions and passages of one article."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from curation.concepts.dictionary import Dictionary, build
from schemas.concept import Mention
from schemas.extracted import Figure, Passage, Source
from schemas.record import from_table
from schemas.stages import Input, RecordStage, Table
from schemas.vocabulary import ConceptName


@functools.lru_cache(maxsize=2)
def _dictionary(path: Path) -> Dictionary:
    return build(from_table(ConceptName, pq.read_table(path)))


def ground(
    source: Source, figures: Sequence[Figure], passages: Sequence[Passage], *, vocabulary: Path
) -> Iterator[Mention]:
    """Mentions in one article's captions and passages.

    Args:
        source: the article.
        figures: its figures.
        passages: its passages.
        vocabulary: Parquet of ConceptName rows.
    """
    dictionary = _dictionary(vocabulary)
    texts = [(figure.id, figure.caption) for figure in figures] + [(item.id, item.text) for item in passages]
    for text_id, text in texts:
        for match in dictionary.find(text):
            yield Mention(
                article_id=source.id,
                text_id=text_id,
                start=match.start,
                end=match.end,
                text=text[match.start : match.end],
                concept=match.concept,
                name=match.name,
            )


GROUND = RecordStage(
    name="ground",
    version=1,
    inputs=(
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
    ),
    outputs=(Table("mentions", Mention, ("text_id", "start", "end", "concept")),),
    process=ground,
    accounts=(),
    resources=("vocabulary",),
)
