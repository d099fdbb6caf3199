"""The stage `diagnoses`: one row per case, whatever the texts and the vocabulary hold."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.diagnosis.concepts import build
from curation.diagnosis.reading import roles_in_statement, roles_in_title
from curation.diagnosis.stage import DIAGNOSES, of_article
from flows.engine.runner import run_records
from schemas.article import Article, KeywordGroup, Translated
from schemas.case import Case
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Passage, Source
from schemas.ids import keyword_id, title_id
from schemas.record import from_table, to_table
from schemas.vocabulary import ConceptRelation, ConceptType
from tests.curation.diagnosis.builders import ID, PARENTS, Report, answers, concepts, parts


@pytest.fixture
def vocabulary(tmp_path: Path) -> dict[str, Path]:
    """Types and relations as files."""
    types = [ConceptType(concept=name, semantic_type="T047", group="DISO") for name in PARENTS]
    relations = [
        ConceptRelation(concept=name, relation="parent", other=parent, source="TEST")
        for name, parent in PARENTS.items()
    ]
    files = {"types": tmp_path / "types.parquet", "relations": tmp_path / "relations.parquet"}
    files["names"] = tmp_path / "names.parquet"
    pq.write_table(pa.table({"concept": ["MONDO:disease"], "name": ["Disease"]}), files["names"])
    pq.write_table(to_table(ConceptType, types), files["types"])
    pq.write_table(to_table(ConceptRelation, relations), files["relations"])
    return files


def _tables(report: Report) -> dict[str, list[Any]]:
    written, source, cases, passages, mentions = parts(report)
    return {
        "parse.articles": [written],
        "extract.sources": [source],
        "cases.cases": cases,
        "extract.passages": passages,
        "ground.mentions": mentions,
    }


def test_every_case_has_one_row_that_survives_a_file(vocabulary: dict[str, Path]) -> None:
    report = Report(
        title="[Tuberculosis|MONDO:tb] of the hand: two cases",
        cases=(("The first.",), ("The second.", "She was diagnosed with [melanoma|MONDO:melanoma].")),
    )
    kept, drops, counts = run_records(DIAGNOSES, _tables(report), {}, vocabulary)
    rows = kept["diagnoses"]
    assert [row.case_id for row in rows] == [f"{ID}#case1", f"{ID}#case2"]
    assert not drops and counts == {"case": {"in": 2, "kept": 2, "dropped": 0}}
    assert from_table(PrincipalDiagnosis, to_table(PrincipalDiagnosis, rows)) == rows
    assert rows[0].concept == "MONDO:tb" and rows[0].evidence[0].text_id == title_id(ID)


def test_an_article_without_cases_has_none(vocabulary: dict[str, Path]) -> None:
    tables = _tables(Report(title="[Tuberculosis|MONDO:tb]")) | {"cases.cases": []}
    kept, drops, _ = run_records(DIAGNOSES, tables, {}, vocabulary)
    assert kept == {"diagnoses": []} and not drops


def test_the_order_of_mentions_does_not_matter() -> None:
    report = Report(
        title="[Tuberculosis|MONDO:tb] in a patient with [lupus|MONDO:lupus]",
        keywords=["[lupus|MONDO:lupus]", "[tuberculosis|MONDO:tb]"],
        cases=(("He came.", "He was diagnosed with [tuberculosis|MONDO:tb]."),),
    )
    written, source, cases, passages, mentions = parts(report)
    once = run_records(
        dataclasses.replace(DIAGNOSES, process=_with_concepts),
        {
            "parse.articles": [written],
            "extract.sources": [source],
            "cases.cases": cases,
            "extract.passages": passages[::-1],
            "ground.mentions": mentions[::-1],
        },
        {},
        {},
    )[0]["diagnoses"]
    assert once == answers(
        Report(
            title="[Tuberculosis|MONDO:tb] in a patient with [lupus|MONDO:lupus]",
            keywords=["[lupus|MONDO:lupus]", "[tuberculosis|MONDO:tb]"],
            cases=(("He came.", "He was diagnosed with [tuberculosis|MONDO:tb]."),),
        )
    )
    assert once[0].concept == "MONDO:tb"


def _with_concepts(
    written: Any, sources: Any, cases: Any, passages: Any, mentions: Any
) -> Iterator[PrincipalDiagnosis]:
    return of_article(written, sources[0], cases, passages, mentions, concepts())


def test_unknown_concepts_and_other_groups_are_left_alone() -> None:
    types = [
        ConceptType(concept="MESH:lung", semantic_type="T023", group="ANAT"),
        ConceptType(concept="MONDO:x", semantic_type="T033", group="DISO"),
        ConceptType(concept="MONDO:x", semantic_type="T047", group="DISO"),
    ]
    known = build(types, [])
    assert (known.kind("MESH:lung"), known.kind("MONDO:none"), known.kind("MONDO:x")) == (
        "other",
        "other",
        "disease",
    )
    [found] = answers(Report(title="[Lung|MESH:lung] and [something|MONDO:none]"), known)
    assert found.reason == "not_named"


def test_hierarchies_with_loops_and_child_rows() -> None:
    rows = [
        ConceptRelation(concept="A:1", relation="parent", other="A:2", source="T"),
        ConceptRelation(concept="A:2", relation="parent", other="A:1", source="T"),
        ConceptRelation(concept="A:3", relation="parent", other="A:3", source="T"),
        ConceptRelation(concept="A:2", relation="child", other="A:4", source="T"),
        ConceptRelation(concept="A:2", relation="broader", other="A:9", source="T"),
    ]
    typed = (1, 2, 3)
    types = [ConceptType(concept=f"A:{number}", semantic_type="T047", group="DISO") for number in typed]
    rows.append(ConceptRelation(concept="A:1", relation="parent", other="A:7", source="T"))
    known = build(types, rows)
    assert not known.is_above("A:7", "A:1")  # neither disease nor finding
    assert known.is_above("A:2", "A:1") and known.is_above("A:2", "A:4") and known.is_above("A:1", "A:4")
    assert not known.is_above("A:3", "A:3") and not known.is_above("A:9", "A:4")
    assert not known.is_general("A:2")


def test_statements_of_a_later_document_do_not_trip_it() -> None:
    """A textbook box goes on in another module, whose mentions this article does not have."""
    written, source, cases, passages, mentions = parts(Report(is_book=True))
    told = dataclasses.replace(cases[0].spans[0], passage_id="openstax:book/m2#p14")
    case = dataclasses.replace(cases[0], spans=(*cases[0].spans, told))
    [found] = _with_concepts(written, [source], [case], passages, mentions)
    assert found.reason == "not_named"


@pytest.mark.parametrize(
    "text",
    ["in a " * 40_000, "diagnosis of " * 20_000, "as a sign of " * 20_000, "was x " * 40_000, "a" * 300_000],
)
def test_a_sentence_without_end_is_read_in_time(text: str) -> None:
    marked = "[tuberculosis|MONDO:tb] and " * 2000
    started = time.process_time()
    answers(
        Report(
            title=text + marked,
            cases=(("He came.", text + marked + text),),
            discussion=["Our patient had " + text + marked],
        )
    )
    assert time.process_time() - started < 20


def test_no_disease_named_gives_no_roles() -> None:
    assert roles_in_title("A case", []) == [] and roles_in_statement("He was diagnosed.", []) == []


def _spanish(**front: Any) -> tuple[Article, Source, list[Case], list[Passage]]:
    """A report of one case in Spanish whose own title names no disease, with a front in other languages."""
    report = Report(title="Causa rara de fiebre", cases=(("Una mujer de 40 años.", "Se la trató."),))
    written, source, cases, passages, _ = parts(report)
    return replace(written, language="es", **front), replace(source, language="es"), cases, passages


def _tuberculosis(text_id: str) -> Mention:
    return Mention(
        article_id=ID,
        text_id=text_id,
        start=0,
        end=12,
        text="tuberculosis",
        concept="MONDO:tb",
        name="tuberculosis",
    )


def test_a_title_in_english_is_read_in_place_of_the_articles_own() -> None:
    title = "Tuberculosis as a cause of fever"
    told = _spanish(translated_titles=(Translated(language="en", text=title),))
    [found] = of_article(*told, [_tuberculosis(title_id(ID, 2))], concepts())
    assert (found.concept, found.rule) == ("MONDO:tb", "title")
    assert [item.text_id for item in found.evidence] == [title_id(ID, 2)]
    [stated] = found.statements
    assert (stated.passage_id, title[stated.start : stated.end]) == (title_id(ID, 2), stated.text)


def test_keywords_in_english_count_beside_the_articles_own() -> None:
    terms = KeywordGroup(language="en", type="", terms=("fever", "tuberculosis"))
    [found] = of_article(*_spanish(keywords=(terms,)), [_tuberculosis(keyword_id(ID, 2))], concepts())
    assert "MONDO:tb" in (found.concept, *found.contenders)
