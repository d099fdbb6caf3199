"""What the labels of image search rest on: whether two figures show the same, and the words that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from curation.extract.sentences import sentence_spans
from curation.tasks.image_search.facts import Report
from schemas.benchmark import Evidence
from schemas.case import Case
from schemas.extracted import Figure, Passage
from schemas.label import Label, RecordLabels


def is_alike(one: RecordLabels | None, other: RecordLabels | None) -> bool:
    """Whether two figures have the same modalities, all told to the leaf, and the same regions of the body.

    Parts of the regions must be the same too where both tell them. What is undecided is the same as nothing.
    """
    if one is None or other is None:
        return False
    return _same_modality(one, other) and _same_region(one, other)


def _same_modality(one: RecordLabels, other: RecordLabels) -> bool:
    if not one.modalities or set(one.modalities) != set(other.modalities):
        return False
    return not set(one.modalities) & set(one.modality_groups)


def _same_region(one: RecordLabels, other: RecordLabels) -> bool:
    if not one.regions or set(one.regions) != set(other.regions):
        return False
    parts = set(one.region_parts), set(other.region_parts)
    return not all(parts) or parts[0] == parts[1]


def common(labels: Iterable[tuple[str, ...]]) -> str:
    """The one label of all figures, '' when one of them has another, several or none."""
    found = set(labels)
    (one,) = found if len(found) == 1 else ((),)
    return one[0] if len(one) == 1 else ""


def caption_span(figure: Figure) -> Evidence:
    """The first sentence of a figure's caption."""
    spans = sentence_spans(figure.caption)
    start, end = spans[0] if spans else (0, len(figure.caption))
    return _evidence(figure.id, figure.caption, start, end)


def citing_spans(figure: Figure, case: Case, passages: Mapping[str, Passage]) -> tuple[Evidence, ...]:
    """Sentences of a case's own text that cite a figure; its passages may tell of other patients too."""
    places = {
        (item.passage_id, item.sentence_start, item.sentence_end)
        for item in figure.mentions
        if item.passage_id in passages
        and any(
            span.passage_id == item.passage_id
            and item.sentence_start < span.end
            and span.start < item.sentence_end
            for span in case.spans
        )
    }
    return tuple(_evidence(name, passages[name].text, start, end) for name, start, end in sorted(places))


def label_spans(report: Report, figure: Figure) -> tuple[Evidence, ...]:
    """The words that tell a figure's modality and region: in its caption, else in a sentence that cites it.

    The caption's first sentence stands for words that no text holds: a kind told by pixels, a concept's name.
    """
    found: dict[tuple[str, int], Evidence] = {}
    for row in report.labels.get(figure.id, ()):
        if row.value and row.rank == 1 and row.facet in ("modality", "region"):
            for span in _places(report, figure, row):
                found.setdefault((span.text_id, span.start), span)
                break
    return tuple(found[key] for key in sorted(found)) or (caption_span(figure),)


def _places(report: Report, figure: Figure, row: Label) -> Iterator[Evidence]:
    """Where the words of a label stand, most points first."""
    for item in row.evidence:
        if item.place == "caption" and (at := figure.caption.find(item.text)) >= 0:
            yield _evidence(figure.id, figure.caption, at, at + len(item.text))
        elif item.place == "citing sentence":
            for mention in figure.mentions:
                passage = report.passages.get(mention.passage_id)
                text = passage.text if passage else ""
                at = text.find(item.text, mention.sentence_start, mention.sentence_end)
                if at >= 0:
                    yield _evidence(mention.passage_id, text, at, at + len(item.text))


def _evidence(name: str, text: str, start: int, end: int) -> Evidence:
    return Evidence(text_id=name, start=start, end=end, text=text[start:end])
