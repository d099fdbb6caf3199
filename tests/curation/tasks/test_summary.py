"""A generated corpus whose every label, exclusion and drop of the task is known, and its parts one by one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from curation.extract.neutralise import restore
from curation.tasks.summary import OWN_ABSTRACT, TASK, abstract_id
from curation.tasks.summary_context import barred_grams, tokens_of
from curation.tasks.summary_headings import closing_section, is_closing_sentence
from schemas.article import Article, Translated
from schemas.benchmark import Excluded, Qrel, Query
from schemas.grades import EXCLUSIONS, GRADES
from schemas.hashing import sha256_text
from tests.curation.builders import BY, passage
from tests.curation.tasks.summary_corpus import (
    CORPUS,
    DROPPED,
    EXCLUDED,
    NC,
    PICTURED,
    POSITIVE,
    figured,
    merged,
    per_article,
    report,
    sentence,
    text,
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
    assert {row.score for row in found["qrels"]} == set(GRADES["summary"])
    assert {row.reason for row in found["excluded"]} <= set(EXCLUSIONS)


def test_every_drop_is_the_known_one(
    built: tuple[dict[str, list[Any]], dict[Any, str]], found: dict[str, list[Any]]
) -> None:
    assert built[1] == DROPPED
    assert {(drop.unit, drop.id, drop.reason.value, drop.detail) for drop in found["drops"]} == {
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
    (document,) = [row for row in found["documents"] if row.id == "pmc:PMC1.1#abstract1"]
    assert (document.specialty, document.genre, document.patient_id) == (
        "cardiology",
        "case-report",
        "pmc:PMC1.1#case1",
    )


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


def only_query(of: Article, **params: Any) -> Query:
    rows, drops = per_article([of], **params)
    assert len(rows["queries"]) == 1, drops
    query: Query = rows["queries"][0]
    return query


def with_passages(number: int, *texts: str, section: int = 1) -> Article:
    """`report` with further passages at its end."""
    made = report(number)
    more = tuple(
        passage(len(made.passages) + at, item, article=made.id, section=section)
        for at, item in enumerate(texts, start=1)
    )
    return dataclasses.replace(made, passages=made.passages + more)


@pytest.mark.parametrize("section", [3, 4])
def test_conclusion_sections_stay_out_by_title_and_by_type(section: int) -> None:
    kept = with_passages(1, sentence("last"), section=2)
    assert sentence("last") in only_query(kept).text
    assert sentence("last") not in only_query(with_passages(1, sentence("last"), section=section)).text


def test_a_sentence_that_concludes_ends_its_passage() -> None:
    end = f"In conclusion, {sentence('end').lower()}"
    query = only_query(with_passages(1, f"{sentence('before')} {end} {sentence('after')}", section=2))
    assert sentence("before") in query.text
    assert "conclusion" not in query.text
    assert sentence("after") not in query.text


def test_words_of_abstract_and_title_stay_out() -> None:
    base = report(1, translated_titles=(Translated(language="pt", text=sentence("titulo", 7)),))
    copied = tokens_of(base.abstracts[0].text)[10:24]
    twelve = " ".join(tokens_of(base.abstracts[0].text)[30:42])
    title = base.title.removesuffix(": a case report")
    straddling = tokens_of(base.abstracts[0].text)[44:58]
    texts = {
        "copied": f"Copied {' '.join(copied)} here.",
        "twelve": f"Twelve {twelve} here.",
        "title": f"Named {title.lower()} here.",
        "translated": f"Named {sentence('titulo', 7).lower()}",
        "across": f"Across {' '.join(straddling[:7])}. {' '.join(straddling[7:]).capitalize()} over.",
    }
    of = dataclasses.replace(
        with_passages(1, *texts.values(), section=2), translated_titles=base.translated_titles
    )
    query = only_query(of)
    assert texts["twelve"] in query.text
    assert "Copied" not in query.text
    assert "Named" not in query.text
    assert "Across" not in query.text and "over." not in query.text
    for taken in of.abstracts:
        stream = tokens_of(query.text)
        assert (
            not {tuple(stream[at : at + 13]) for at in range(len(stream) - 12)}
            & barred_grams([taken.text], [])[13]
        )


def test_what_a_pointer_parts_is_copied_all_the_same() -> None:
    base = report(1)
    words = tokens_of(base.abstracts[0].text)[10:24]
    parted = f"Parted {' '.join(words[:7])} ([F1|Fig. 1]) {' '.join(words[7:])} here."
    assert "Parted" not in only_query(with_passages(1, parted, section=2)).text


def test_context_is_bounded_and_nearest_to_the_citing_sentence() -> None:
    long = [text(f"far {at}", 4) for at in range(12)]
    made = with_passages(1, *long, section=2)
    query = only_query(made, max_context_words=200)
    body = query.text.split("\n", 1)[1]
    assert 150 <= len(body.split()) <= 200
    assert "Fig" not in query.text and "[F1" not in query.text
    assert long[-1] not in query.text
    assert query.text.startswith("Axial scan.")
    assert query.transforms


@pytest.mark.parametrize(
    ("title", "is_closing"),
    [
        ("Conclusions", True),
        ("6. Conclusion and outlook", True),
        ("Discussion/Conclusions", True),
        ("Key points", True),
        ("What this study adds", True),
        ("Graphical abstract", True),
        ("Conclusiones", True),
        ("Considerações finais", True),
        ("Points clés", True),
        ("Schlussfolgerung", True),
        ("Conclusioni", True),
        ("Заключение", True),
        ("结论", True),
        ("まとめ", True),
        ("Introduction", False),
        ("Background & Summary", False),
        ("Primary endpoint", False),
        ("Summary of product characteristics", False),
        ("Discussion", False),
    ],
)
def test_titles_of_closing_sections(title: str, is_closing: bool) -> None:
    assert bool(closing_section(("Results", title))) is is_closing


@pytest.mark.parametrize(
    ("text", "is_closing"),
    [
        ("In conclusion, rest helps.", True),
        ("To summarize, rest helps.", True),
        ("Em resumo, o repouso ajuda.", True),
        ("En conclusión, el reposo ayuda.", True),
        ("Zusammenfassend hilft Ruhe.", True),
        ("综上所述，休息有益。", True),
        ("In short-term follow-up rest helped.", False),
        ("The conclusion of therapy was in May.", False),
    ],
)
def test_sentences_that_conclude(text: str, is_closing: bool) -> None:
    assert is_closing_sentence(text) is is_closing


def test_the_tables_are_what_the_stage_says() -> None:
    kinds = {table.name: table.row for table in TASK.per_article.outputs}
    assert (kinds["qrels"], TASK.over_all.outputs["excluded"].row) == (Qrel, Excluded)
