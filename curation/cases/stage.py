"""The stage `cases`: one Case per patient of an article that claims to report some, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.cases import figures, layout, report
from curation.cases.figures import Profile
from curation.cases.headings import numbered
from curation.cases.narrative import Paragraph, group_words, is_aside, mentions_patient, tells
from curation.cases.newborn import child_sex, is_of_mother, is_prenatal, newborn_age
from curation.cases.patient import Age, Sex, introduces, introduction, is_animal, sex_of
from curation.cases.patients import Draft, Piece
from curation.cases.roles import Told, roles_of, title_role
from curation.extract.formalities import is_consent
from curation.extract.sentences import sentence_spans
from schemas.article import Article, ArticlePassage
from schemas.case import Case, CaseReport, CaseSpan
from schemas.extracted import Figure, Passage, Source
from schemas.ids import case_id
from schemas.stages import Account, Drop, Input, Reason, RecordStage, Table

_MIN_WORDS = 25
_MIN_MENTIONS = 2


def cases(
    article: Article, sources: Sequence[Source], found: Sequence[Figure], passages: Sequence[Passage]
) -> Iterator[Case | CaseReport | Drop]:
    """Cases of one article: a pure generator, the same rows for the same article.

    Args:
        article: the parsed article.
        sources: its one Source, with the scope decision.
        found: its figures with their mentions.
        passages: its passages as extracted.

    Yields:
        A Case per patient and one CaseReport; or, of an article that claims to be a report, one Drop.
    """
    grounds = report.claims(article)
    if not grounds:
        return
    source = sources[0]
    boxes = report.case_boxes(article)
    if source.scope and not (source.is_book and boxes):  # a box of a textbook is judged by its own text
        yield _drop(article, Reason(source.scope), "; ".join(source.scope_evidence[:3]))
        return
    paragraphs = _paragraphs(article, passages)
    drafts = layout.find(
        paragraphs,
        article.sections,
        boxes,
        is_claimed=bool(report.own_claims(article)),
        title=article.title,
        abstract=" ".join(abstract.text for abstract in article.abstracts),
    )
    kept = [draft for draft in drafts if _is_patient(draft, len(drafts))]
    if not kept:
        yield _drop(article, *_why_none(article, drafts, paragraphs))
        return
    made = list(_cases(article, source, found, kept))
    yield CaseReport(article_id=article.id, claims=grounds, cases=len(made))
    yield from made


def _drop(article: Article, reason: Reason, detail: str) -> Drop:
    return Drop(unit="report", id=article.id, article_id=article.id, reason=reason, detail=detail)


def _paragraphs(article: Article, passages: Sequence[Passage]) -> list[Paragraph]:
    """Passages about the subject in reading order, those that continue its boxes in later documents last."""
    extracted = {passage.id: passage for passage in passages}
    kept = [item for item in article.passages if item.id in extracted and _may_tell(extracted[item.id])]
    made = [
        _paragraph(item, order, extracted[item.id].section_path, extracted[item.id].part)
        for order, item in enumerate(kept, start=1)
    ]
    for order, later in enumerate(article.continuations, start=len(made) + 1):
        made.append(_paragraph(later.passage, order, (), "body", later.box))
    return made


def _may_tell(passage: Passage) -> bool:
    """Whether a passage is no boilerplate, or goes on to introduce a patient behind what makes it so."""
    if not passage.boilerplate:
        return True
    sentences = (passage.text[start:end] for start, end in sentence_spans(passage.text))
    return any(introduces(sentence) and not is_consent(sentence) for sentence in sentences)


def _paragraph(
    passage: ArticlePassage, order: int, titles: tuple[str, ...], part: str, box: int | None = None
) -> Paragraph:
    return Paragraph(
        id=passage.id,
        order=order,
        text=passage.text,
        section=passage.section if box is None else -1,
        titles=titles,
        box=passage.box if box is None else box,
        part=part,
        kind=passage.kind,
        citations=sum(xref.ref_type == "bibr" for xref in passage.xrefs),
        sentences=tuple(sentence_spans(passage.text)),
    )


def _is_patient(draft: Draft, count: int) -> bool:
    """Whether a draft, one of `count`, tells of one human patient; the only one at some length."""
    text = draft.text()
    introduced = _introduction(draft)
    if introduced is not None and is_animal(introduced[0]):
        return False
    told = mentions_patient(text) + (2 if introduced else 0)
    if count > 1 and introduced is not None:
        return group_words(text) < 4
    return len(text.split()) >= _MIN_WORDS and told >= _MIN_MENTIONS and group_words(text) < max(4, told)


def _introduction(draft: Draft) -> tuple[str, Age] | None:
    """The first sentence that introduces the patient by age, and that age."""
    sentences = (
        piece.paragraph.text[start:end] for piece in draft.pieces[:4] for start, end in piece.sentences()
    )
    return introduction(sentences, may_be_kin=draft.number > 1)


def _why_none(
    article: Article, drafts: Sequence[Draft], paragraphs: Sequence[Paragraph]
) -> tuple[Reason, str]:
    """Reason and detail for an article that claims to be a report but tells of no patient."""
    text = " ".join(paragraph.text for paragraph in paragraphs)
    if any((found := _introduction(draft)) and is_animal(found[0]) for draft in drafts):
        return Reason.NOT_HUMAN, "the one introduced by age is an animal"
    if group_words(text) > mentions_patient(text):
        return Reason.NOT_A_CASE, "tells of groups and methods, not of one patient"
    if any(introduces(text[a:b]) for text in [text] for a, b in sentence_spans(text)):
        return Reason.NOT_A_CASE, "no stretch of text tells of one patient at length"
    return Reason.NOT_A_PATIENT, "nobody is introduced as a patient"


def _cases(
    article: Article, source: Source, found: Sequence[Figure], drafts: Sequence[Draft]
) -> Iterator[Case]:
    """The records of one article's patients, in reading order."""
    drafted = [(draft, spans) for draft in drafts if (spans := _spans(draft))]
    numbers = [draft.number or 1 for draft, _ in drafted]
    if len(set(numbers)) < len(numbers):  # two regions count from one each
        numbers = list(range(1, len(numbers) + 1))
    is_report = bool(report.own_claims(article)) and not source.is_book
    profiles = {
        number: Profile(spans, *_person(draft, article.title))
        for number, (draft, spans) in zip(numbers, drafted, strict=True)
    }
    shown = figures.assign(found, profiles, is_report=is_report)
    for position, (number, (draft, spans)) in enumerate(zip(numbers, drafted, strict=True), start=1):
        age, sex = profiles[number].age, profiles[number].sex
        yield Case(
            id=case_id(article.id, position),
            article_id=article.id,
            number=position,
            label=draft.label if len(drafted) > 1 else "",
            rule=draft.rule,
            age_years=age.years if age else None,
            age_text=age.text if age else "",
            sex=sex,
            spans=spans,
            figures=shown[number],
        )


def _person(draft: Draft, title: str) -> tuple[Age | None, Sex]:
    """Age and sex of the patient; of an unborn or newborn one, not the mother's who is introduced first."""
    introduced, text = _introduction(draft), draft.text()
    if introduced and is_of_mother(introduced[0], introduced[1], title):
        return (None if is_prenatal(title) else newborn_age(text)), child_sex(text)
    sentence, age = introduced or ("", None)
    return age, sex_of([text], age, sentence)


def _spans(draft: Draft) -> tuple[CaseSpan, ...]:
    """Sentences of a draft, neighbours of one role joined; consent and what is of no patient left out."""
    places: list[tuple[Piece, int, int]] = []
    told: list[Told] = []
    parted: set[int] = set()
    for piece in draft.pieces:
        stated = title_role(piece.paragraph.titles)
        parted.add(len(told))
        for start, end in piece.sentences():
            text = piece.paragraph.text[start:end]
            if is_consent(text) or is_aside(text):
                parted.add(len(told))  # a sentence of nothing about the patient parts what stands around it
                continue
            places.append((piece, start, end))
            told.append(Told(text, piece.paragraph.id, stated))
    spans: list[CaseSpan] = []
    for at, role in enumerate(roles_of(told, _is_of_patient)):
        piece, start, end = places[at]
        if role is None:
            parted.add(at + 1)
            continue
        if at not in parted and spans[-1].role == role:
            start = spans.pop().start
        spans.append(CaseSpan(passage_id=piece.paragraph.id, start=start, end=end, role=role))
    return tuple(spans)


def _is_of_patient(sentence: str) -> bool:
    is_named = numbered(sentence) is not None or introduces(sentence, may_be_kin=True) is not None
    return is_named or tells(sentence)


def _reports(
    article: Article, sources: Sequence[Source], found: Sequence[Figure], passages: Sequence[Passage]
) -> list[str]:
    return [article.id] if report.claims(article) else []


CASES = RecordStage(
    name="cases",
    version=17,
    inputs=(
        Input("parse.articles", Article, by="id"),
        Input("extract.sources", Source, by="id"),
        Input("extract.figures", Figure, by="article_id"),
        Input("extract.passages", Passage, by="article_id"),
    ),
    outputs=(Table("reports", CaseReport, ("article_id",)), Table("cases", Case, ("id",))),
    process=cases,
    accounts=(Account("report", _reports, "reports", "article_id"),),
)
