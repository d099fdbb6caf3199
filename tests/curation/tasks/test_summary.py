"""A generated corpus whose every label, exclusion and drop of the task is known, and its parts one by one."""

from __future__ import annotations

from typing import Any

import pytest

from curation.extract.neutralise import restore
from curation.tasks.summary.build import OWN_ABSTRACT
from curation.tasks.summary.task import TASK
from schemas.article import Translated
from schemas.benchmark import Excluded, Qrel
from schemas.hashing import sha256_text
from schemas.ids import abstract_id
from tests.curation.builders import BY
from tests.curation.tasks.summary_corpus import (
    CORPUS,
    DROPPED,
    EXCLUDED,
    NC,
    PICTURED,
    POSITIVE,
    abstract,
    figured,
    merged,
    per_article,
    report,
)


@pytest.fixture(scope="module")
def built() -> tuple[dict[str, list[Any]], dict[Any, str]]:
    return per_article(list(CORPUS))


@pytest.fixture(scope="module")
def found(built: tuple[dict[str, list[Any]], dict[Any, str]]) -> dict[str, list[Any]]:
    return merged(built[0])


def asked(found: dict[str, list[Any]]) -> dict[str, str]:
    return {query.id: query.article_id for query in found["queries"]}


def test_every_label_and_exclusion_is_the_known_one(found: dict[str, list[Any]]) -> None:
    of = asked(found)
    assert {(of[row.query_id], row.corpus_id) for row in found["qrels"]} == POSITIVE
    assert {(of[row.query_id], row.corpus_id, row.reason) for row in found["excluded"]} == EXCLUDED
    assert {(row.score, row.rule, row.label_status) for row in found["qrels"]} == {
        (2, OWN_ABSTRACT, "structural")
    }
    assert {row.score for row in found["qrels"]} == {grade.score for grade in TASK.grades} - {0}
    assert {row.reason for row in found["excluded"]} <= set(TASK.all_exclusions)


def test_every_drop_is_the_known_one(
    built: tuple[dict[str, list[Any]], dict[Any, str]], found: dict[str, list[Any]]
) -> None:
    assert built[1] == DROPPED
    assert {(drop.unit, drop.id, str(drop.reason), drop.detail) for drop in found["drops"]} == {
        ("query", "pmc:PMC41.1", "duplicate_query", "pmc:PMC40.1"),
        ("document", "pmc:PMC41.1#abstract1", "duplicate_document", "pmc:PMC40.1#abstract1"),
        ("document", "pmc:PMC8.1#abstract1", "duplicate_document", "pmc:PMC7.1#abstract1"),
    }
    kept = {row.id for row in found["documents"]}
    assert {corpus for _, corpus in POSITIVE} | {corpus for _, corpus, _ in EXCLUDED} <= kept


def test_image_and_licence_profile_are_settings(built: tuple[dict[str, list[Any]], dict[Any, str]]) -> None:
    rows, drops = per_article(list(CORPUS), require_image=True)
    assert drops == {**DROPPED, **PICTURED}
    assert all(query.image is not None and query.image_count == 1 for query in rows["queries"])
    without = [query for query in built[0]["queries"] if query.image is None]
    assert [(query.article_id, query.image_count) for query in without] == [
        ("pmc:PMC33.1", 0),
        ("pmc:PMC34.1", 0),
    ]
    rows, _ = per_article([report(30, **figured(30, licence=NC))], licence_profile="noncommercial")
    (query,) = rows["queries"]
    assert query.license == NC.spdx
    assert query.license_evidence == f"text: {BY.evidence}; figure: {NC.evidence}"
    assert [document.license for document in rows["documents"]] == [BY.spdx]


def test_texts_lead_back_and_evidence_re_extracts(found: dict[str, list[Any]]) -> None:
    documents = {row.id: row for row in found["documents"]}
    for row in (*found["queries"], *found["documents"]):
        assert sha256_text(restore(row.text, row.transforms)) == row.text_sha256
    for row in found["qrels"]:
        (span,) = row.evidence
        if span.text_id == row.corpus_id:
            source = restore(documents[row.corpus_id].text, documents[row.corpus_id].transforms)
            assert source[span.start : span.end] == span.text
            assert span.text != "Background"


def test_facets_come_from_labels_and_cases(found: dict[str, list[Any]]) -> None:
    (query,) = [row for row in found["queries"] if row.article_id == "pmc:PMC1.1"]
    assert (query.specialty, query.modality, query.region) == ("cardiology", "ct", "thorax")
    assert query.patient_id == "pmc:PMC1.1#case1"
    assert query.source_id == "pmc:PMC1.1"
    (query,) = [row for row in found["queries"] if row.article_id == "pmc:PMC2.1"]
    assert (query.modality, query.region) == ("", "thorax")  # its figure shows more than one
    (document,) = [row for row in found["documents"] if row.id == "pmc:PMC1.1#abstract1"]
    assert (document.specialty, document.genre, document.patient_id) == (
        "cardiology",
        "case-report",
        "pmc:PMC1.1#case1",
    )


def test_an_abstract_stands_under_the_title_in_its_language() -> None:
    titles = (Translated(language="en-GB", text="Pale rooms"), Translated(language="es", text="Salas"))
    given = report(
        2,
        language="pt",
        title="Salas claras",
        translated_titles=titles,
        abstracts=(abstract("2", "pt"), abstract("2 en", "en"), abstract("2 fr", "fr")),
    )
    rows = merged(per_article([given])[0])["documents"]
    assert {row.language: row.title for row in rows} == {
        "pt": "Salas claras", "en": "Pale rooms", "fr": "Salas claras",
    }  # fmt: skip


def test_hard_pool_of_case_reports_shares_topics_and_holds_nothing_judged(
    found: dict[str, list[Any]],
) -> None:
    of = asked(found)
    pool = {(of[row.query_id], row.corpus_id): (row.rank, row.why, row.shared) for row in found["hard_pool"]}
    assert set(pool) == {
        (one, abstract_id(other, 1))
        for one, other in (
            ("pmc:PMC1.1", "pmc:PMC3.1"),
            ("pmc:PMC1.1", "pmc:PMC4.1"),
            ("pmc:PMC3.1", "pmc:PMC1.1"),
            ("pmc:PMC4.1", "pmc:PMC1.1"),
        )
    }
    assert {(why, shared) for _, why, shared in pool.values()} == {("specialty+genre+topic", ("MONDO:1",))}
    assert {row.label_status for row in found["hard_pool"]} == {"unjudged"}


def test_hard_pool_of_other_genres_is_filled_by_specialty() -> None:
    made = [report(at, seed=f"r{at}", article_type="research-article") for at in range(1, 7)]
    found = merged(per_article(made)[0])
    of = asked(found)
    for query, name in of.items():
        ranked = sorted(
            (row for row in found["hard_pool"] if row.query_id == query), key=lambda row: row.rank
        )
        assert [row.rank for row in ranked] == [1, 2, 3, 4, 5]
        assert {row.corpus_id for row in ranked} == {abstract_id(item.id, 1) for item in made} - {
            abstract_id(name, 1)
        }
        shares = [len(row.shared) for row in ranked]
        assert shares == sorted(shares, reverse=True)
        assert {row.why for row in ranked} <= {"specialty+genre", "specialty+genre+topic"}


def test_merging_does_not_depend_on_the_order_of_articles(found: dict[str, list[Any]]) -> None:
    assert merged(per_article(list(CORPUS[::-1]))[0]) == found


def test_the_tables_are_what_the_stage_says() -> None:
    kinds = {table.name: table.row for table in TASK.per_article.outputs}
    assert (kinds["qrels"], TASK.over_all.outputs["excluded"].row) == (Qrel, Excluded)
