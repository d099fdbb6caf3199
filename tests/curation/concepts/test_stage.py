"""The ground stages: every text of an article under its id, its concepts summed up, and questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.concepts.index import build_index
from curation.concepts.places import section_weight
from curation.concepts.stage import GROUND, GROUND_QUESTIONS, ground, ground_question
from schemas.article import Abstract, Article, KeywordGroup, Translated
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.question import Option, Question
from schemas.vocabulary import ConceptName
from tests.curation.builders import BY

NAMES = {"MADE:1": "elbow fever", "MADE:2": "green rash", "MADE:3": "fever"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "made"
    build_index(
        (ConceptName(concept=concept, name=name, is_preferred=True) for concept, name in NAMES.items()), path
    )
    return path


@pytest.fixture
def passage() -> Callable[[int, str, str], Passage]:
    def make(number: int, text: str, section: str) -> Passage:
        return Passage(
            id=f"pmc:PMC1.1#p{number}",
            article_id="pmc:PMC1.1",
            number=number,
            section=1,
            section_path=(section, "deeper") if section else (),
            text=text,
            text_sha256=sha256_text(text),
            language="en",
        )

    return make


def test_texts_and_concepts_of_an_article(index: Path, passage: Callable[[int, str, str], Passage]) -> None:
    source = Source(
        id="pmc:PMC1.1",
        title="A green rash",
        keywords=("elbow fever", "other", "rash, green"),
        language="en",
        licence=BY,
        raw_sha256="",
    )
    figure = Figure(
        id="pmc:PMC1.1#F1", article_id="pmc:PMC1.1", number=1, caption="Elbow fever.", section=1, licence=BY
    )
    empty = Figure(id="pmc:PMC1.1#F2", article_id="pmc:PMC1.1", number=2, section=1, licence=BY)
    article = Article(
        id="pmc:PMC1.1",
        source="folder",
        language="en",
        title="A green rash",
        abstracts=(Abstract(language="und", type="", text="A rash was green; GR was seen."),),
        abbreviations=("GR = green rash", "nonsense"),
        licence=BY,
        raw_sha256="",
    )
    passages = [
        passage(1, "There was no elbow fever (EF).", "Introduction"),
        passage(2, "EF and a green rash.", "Case"),
        passage(3, "Green rash.", ""),
    ]
    found = list(
        ground(
            source, [article], [figure, empty], passages, vocabulary=index, backend="native", overlaps=False
        )
    )
    mentions = [row for row in found if isinstance(row, Mention)]
    assert [(row.text_id.removeprefix("pmc:PMC1.1"), row.text, row.concept) for row in mentions] == [
        ("#title", "green rash", "MADE:2"),
        ("#keyword1", "elbow fever", "MADE:1"),
        ("#keyword3", "rash, green", "MADE:2"),
        ("#abstract1", "rash was green", "MADE:2"),
        ("#abstract1", "GR", "MADE:2"),
        ("#p1", "elbow fever", "MADE:1"),
        ("#p1", "EF", "MADE:1"),
        ("#p2", "EF", "MADE:1"),
        ("#p2", "green rash", "MADE:2"),
        ("#p3", "Green rash", "MADE:2"),
        ("#F1", "Elbow fever", "MADE:1"),
    ]
    first, second = (row for row in found if isinstance(row, DocumentConcept))
    assert (first.concept, first.mentions, first.asserted, first.in_title, first.in_keywords) == (
        "MADE:1",
        5,
        3,
        False,
        True,
    )
    assert first.captions == ("pmc:PMC1.1#F1",) and first.sections == ("Introduction", "Case")
    assert (second.concept, second.mentions, second.in_title) == ("MADE:2", 4, True)
    assert second.captions == () and second.sections == ("Case",)
    assert first.weight == 3.0 + 1.5 + 1.5  # keyword, case, caption; what is negated counts for nothing
    assert second.weight == 3.0 + 3.0 + 1.5 + 1.0  # title, keyword, case, a passage outside sections
    nested = ground(source, [article], [], passages[:1], vocabulary=index, backend="native", overlaps=True)
    assert "MADE:3" in {row.concept for row in nested}


@pytest.mark.parametrize(
    ("title", "weight"),
    [
        ("Case Report", 1.5),
        ("3. RESULTS AND DISCUSSION", 1.5),
        ("Patients and methods", 0.5),
        ("Materials and methods", 0.5),
        ("Antecedentes", 0.5),
        ("Funding", 0.25),
        ("Discussion", 1.0),
        ("", 1.0),
    ],
)
def test_weights_of_sections(title: str, weight: float) -> None:
    assert section_weight(title) == weight


def test_a_question_is_grounded_part_by_part(index: Path) -> None:
    question = Question(
        id="questions:exam/7",
        collection="questions:exam",
        number=7,
        language="en",
        text="What goes with elbow fever (EF)?",
        options=(Option(letter="A", text="A green rash"), Option(letter="B", text="Nothing")),
        answer="EF has a green rash.",
        licence=BY,
    )
    found = list(ground_question(question, vocabulary=index, backend="native", overlaps=False))
    assert [(row.text_id, row.text) for row in found] == [
        ("questions:exam/7", "elbow fever"),
        ("questions:exam/7", "EF"),
        ("questions:exam/7#optionA", "green rash"),
        ("questions:exam/7#answer", "EF"),
        ("questions:exam/7#answer", "green rash"),
    ]
    assert {row.article_id for row in found} == {"questions:exam"}
    assert GROUND.params == GROUND_QUESTIONS.params


def test_title_and_keywords_in_other_languages_are_read_but_counted_once(
    index: Path, passage: Callable[[int, str, str], Passage]
) -> None:
    source = Source(
        id="pmc:PMC1.1", title="Un caso", keywords=("fiebre",), language="es", licence=BY, raw_sha256=""
    )
    article = Article(
        id="pmc:PMC1.1",
        source="folder",
        language="es",
        title="Un caso",
        translated_titles=(Translated(language="en", text="A green rash"),),
        keywords=(
            KeywordGroup(language="es", type="", terms=("fiebre",)),
            KeywordGroup(language="en", type="", terms=("elbow fever",)),
        ),
        licence=BY,
        raw_sha256="",
    )
    passages = [passage(1, "Fever.", "Caso")]
    found = list(ground(source, [article], [], passages, vocabulary=index, backend="native", overlaps=False))
    mentions = [(item.text_id, item.concept) for item in found if isinstance(item, Mention)]
    assert set(mentions) == {
        ("pmc:PMC1.1#title2", "MADE:2"),
        ("pmc:PMC1.1#keyword1", "MADE:3"),
        ("pmc:PMC1.1#keyword2", "MADE:1"),
        ("pmc:PMC1.1#p1", "MADE:3"),
    }
    assert {item.concept for item in found if isinstance(item, DocumentConcept)} == {"MADE:3"}
