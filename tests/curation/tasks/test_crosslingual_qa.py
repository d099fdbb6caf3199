"""Cross-lingual questions over a small textbook: subjects, facets, names, origins, restricted strings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.tasks.crosslingual_qa.facets import (
    FACETS,
)
from curation.tasks.crosslingual_qa.records import StringOrigin
from curation.tasks.crosslingual_qa.templates import HOLE, templates
from schemas.benchmark import CORE_LANGUAGES, Query
from schemas.hashing import sha256_text
from schemas.record import from_table, to_table
from schemas.vocabulary import ConceptName, ConceptRelation
from tests.curation.tasks.crosslingual_world import (
    ABSTRACT,
    BOOK,
    FEVER,
    GOUT,
    KIND,
    LETTER,
    PASSAGES,
    REPORT,
    of_book,
    run,
    write_vocabulary,
)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_vocabulary(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(scope="module")
def made(vocabulary: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return run(vocabulary, tmp_path_factory.mktemp("made"))


def pairs(made: dict[str, list[Any]], source: str, table: str = "qrels") -> dict[str, Any]:
    """Passage number -> its grade, or why it has none, of one question."""
    (query,) = (item for item in made["queries"] if item.source_id == source)
    said = {"qrels": "score", "excluded": "reason", "hard_pool": "why"}[table]
    return {
        item.corpus_id.partition("#")[2]: getattr(item, said)
        for item in made[table]
        if item.query_id == query.id
    }


def test_the_facet_asked_is_2_a_neighbour_1_and_the_rest_is_no_label(made: dict[str, list[Any]]) -> None:
    assert pairs(made, f"{GOUT}/cause/en") == {"p2": 2, "p3": 1}
    assert pairs(made, f"{GOUT}/cause/en", "hard_pool") == {"p1": "same disorder, another facet"}
    left_out = {
        "p4": "facet_undecided",
        "p5": "narrower_concept",
        "p6": "merely_named",
        "p8": "narrower_concept",  # two steps below
    }
    assert pairs(made, f"{GOUT}/cause/en", "excluded").items() >= left_out.items()
    assert {item.label_status for item in made["qrels"]} == {"structural"}


def test_a_neighbour_is_1_by_a_sentence_and_neither_1_nor_hard_by_a_heading(
    made: dict[str, list[Any]],
) -> None:
    assert pairs(made, f"{GOUT}/definition/en") == {"p3": 2}
    assert pairs(made, f"{GOUT}/definition/en", "excluded")["p2"] == "facet_undecided"
    assert pairs(made, f"{GOUT}/definition/en", "hard_pool") == {"p1": "same disorder, another facet"}
    (asked,) = (item for item in made["queries"] if item.source_id == f"{GOUT}/cause/en")
    (label,) = (item for item in made["qrels"] if item.query_id == asked.id and item.score == 1)
    assert label.evidence[0].text == PASSAGES[2][1]  # the sentence that tells the neighbouring facet


def test_what_an_article_has_beyond_its_share_is_left_out_with_a_reason(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    cause = f"{GOUT}/cause/en"
    one_each = run(vocabulary, tmp_path, family_share=1)
    assert pairs(one_each, cause) == {"p2": 2} and pairs(one_each, f"{GOUT}/treatment/en") == {"p1": 2}
    assert pairs(one_each, cause, "excluded")["p3"] == "article_share"
    one = run(vocabulary, tmp_path, article_share=1)
    english = {item.id for item in one["queries"] if item.language == "en" and item.tier != "parallel"}
    assert sum(item.query_id in english and BOOK in item.corpus_id for item in one["qrels"]) == 1


def test_a_sentence_that_looks_back_is_quoted_with_the_one_before_or_not_at_all(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    leaning = "This is the treatment of choice for gout."
    passages, mentions = of_book(
        (
            (("Gout",), f"Bark is boiled for an hour. Then it is drunk. {leaning}"),
            (("Gout",), f"{leaning} It was so for many years in every harbour of the south."),
            (("Gout",), f"Bark is boiled for an hour. {leaning} Bark is used to treat gout."),
        )
    )
    given: dict[str, list[Any]] = {"extract.passages": passages, "ground.mentions": mentions}
    made = run(vocabulary, tmp_path, given)
    (query,) = (item for item in made["queries"] if item.source_id == f"{GOUT}/treatment/en")
    assert {
        item.corpus_id[-2:]: item.evidence[0].text for item in made["qrels"] if item.query_id == query.id
    } == {"p1": f"Then it is drunk. {leaning}", "p3": "Bark is used to treat gout."}


def test_a_sentence_that_answers_is_quoted_rather_than_the_first_under_the_heading(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    told = "Colchicine is used to treat gout."
    passages, mentions = of_book(((("Gout", "Treatment"), f"Kings had gout in each port. {told}"),))
    made = run(vocabulary, tmp_path, {"extract.passages": passages, "ground.mentions": mentions})
    (label,) = {(item.rule, item.evidence[0].text) for item in made["qrels"] if item.corpus_id.endswith("p1")}
    assert label == ("crosslingual_qa/facet-sentence@1", told)


def test_a_version_merely_names_what_it_names_itself(made: dict[str, list[Any]]) -> None:
    """The report's body names the fever; its title, abstract and caption do not."""
    left_out = pairs(made, f"{FEVER}/treatment/en", "excluded")
    assert left_out.keys().isdisjoint({"title-en", "abstract-en", "F1-en"})


def test_a_concept_that_one_source_alone_has_below_is_left_out_as_disputed(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    links = from_table(ConceptRelation, pq.read_table(vocabulary["relations"]))
    links += [
        ConceptRelation(concept=low, relation="parent", other="INV:0", source="OTHER") for low in (KIND, GOUT)
    ]
    other = {**vocabulary, "relations": tmp_path / "relations.parquet"}
    pq.write_table(to_table(ConceptRelation, links), other["relations"])
    left_out = pairs(run(other, tmp_path), f"{GOUT}/cause/en", "excluded")
    assert left_out["p5"] == left_out["p8"] == "disputed_narrower"


def test_a_question_is_asked_by_no_name_of_another_concept(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    names = from_table(ConceptName, pq.read_table(vocabulary["names"]))

    def asked(*more: tuple[str, str, str]) -> dict[str, str]:
        """Language -> the name in its question; why there is none."""
        added = [
            ConceptName(concept=concept, name=name, language=code, term_type="SY", source="INVENTED")
            for concept, name, code in more
        ]
        whole = {**vocabulary, "names": tmp_path / f"names{len(more)}{more[0][0]}.parquet"}
        rows = sorted([*names, *added], key=lambda item: (item.concept, item.name))
        pq.write_table(to_table(ConceptName, rows), whole["names"])
        made = run(whole, tmp_path)
        strings = {item.query_id: item.name for item in made["strings"]}
        of_cause = [item for item in made["queries"] if item.family == f"{GOUT}/cause"]
        drops = {item.id[-2:]: str(item.reason) for item in made["drops"] if f"{GOUT}/cause/" in item.id}
        return drops | {item.language: strings[item.id] for item in of_cause}

    shared = asked((FEVER, "Gout", "en"), (GOUT, "toe ache", "en"))
    assert shared["en"] == "toe ache" and shared["es"] == shared["zh"] == "shared_name"
    assert asked((FEVER, "Goutte", "fr"))["fr"] == "shared_name"
    assert asked((FEVER, "Goutte", "fr"))["en"] == "gout"
    assert asked((KIND, "Gout", "en"))["en"] == "gout"  # a narrower concept


def test_what_an_article_says_in_another_language_finds_its_own_english_version(
    made: dict[str, list[Any]],
) -> None:
    asked = {item.source_id: item for item in made["queries"] if item.tier == "parallel"}
    found = {name: pairs(made, name) for name in asked}
    assert found == {
        f"{REPORT}#title-es": {"title-en": 2},
        f"{REPORT}#abstract-es": {"abstract-en": 2},
        f"{REPORT}#F1-es": {"F1-en": 2},
    }
    documents = {item.id: item for item in made["documents"]}
    own = documents[f"{REPORT}#abstract-en"]
    assert (own.title, own.text, own.language) == ("", ABSTRACT, "en")
    (origin,) = (item for item in made["strings"] if item.query_id == asked[f"{REPORT}#F1-es"].id)
    assert (origin.kind, origin.source, origin.name) == ("human", REPORT, "")
    text = asked[f"{REPORT}#F1-es"].text
    assert (text[origin.start : origin.end], origin.record) == (text, f"{REPORT}#F1-es")
    assert (origin.concept, origin.license) == (GOUT, "CC-BY-4.0")
    assert {item.rule for item in made["qrels"] if item.query_id == asked[f"{REPORT}#F1-es"].id} == {
        "crosslingual_qa/translation-of@1"
    }


def test_what_else_the_article_says_and_what_is_about_its_concept_is_excluded(
    made: dict[str, list[Any]],
) -> None:
    left_out = pairs(made, f"{REPORT}#title-es", "excluded")
    assert left_out == {
        "abstract-en": "own_article", "F1-en": "own_article",
        **dict.fromkeys(("p1", "p2", "p3", "p4"), "same_concept"),
    }  # fmt: skip
    of_question = pairs(made, f"{GOUT}/cause/en", "excluded")
    assert of_question.items() >= {"title-en": "facet_undecided", "F1-en": "facet_undecided"}.items()


def test_texts_without_one_english_version_of_their_own_are_no_known_items(
    made: dict[str, list[Any]], vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    why = {item.id: item.reason for item in made["drops"] if item.unit == "version"}
    assert why == {
        f"{REPORT}#title-pt": "short_passage",
        f"{REPORT}#title-fr": "self_match",
        f"{REPORT}#F2-es": "no_medical_concept",
        f"{LETTER}#abstract-es": "no_english_version",
    }
    core = run(vocabulary, tmp_path, parallel_core=True)
    assert why == {item.id: item.reason for item in core["drops"] if item.unit == "version"}


def test_a_nested_heading_that_names_another_disorder_takes_its_passages(made: dict[str, list[Any]]) -> None:
    found = {(item.corpus_id[-2:], item.concept, item.how) for item in made["named"]}
    assert ("p5", KIND, "about") in found and ("p5", GOUT, "narrower") in found
    assert pairs(made, f"{KIND}/presentation/en") == {"p5": 2}


def test_every_label_quotes_the_sentence_that_answers(made: dict[str, list[Any]]) -> None:
    texts = {f"{BOOK}#p{number}": text for number, (_, text) in enumerate(PASSAGES, 1)}
    for item in made["qrels"]:
        (span,) = item.evidence
        if not span.text_id.startswith(BOOK):
            continue
        assert texts[span.text_id][span.start : span.end] == span.text


def test_translations_are_one_family_and_say_where_their_words_come_from(made: dict[str, list[Any]]) -> None:
    family: list[Query] = [item for item in made["queries"] if item.family == f"{GOUT}/treatment"]
    assert {item.language for item in family} == {"en", "es", "fr", "ja", "zh"}
    origins: dict[str, StringOrigin] = {item.query_id: item for item in made["strings"]}
    for query in family:
        origin = origins[query.id]
        assert query.text[origin.start : origin.end] == origin.name
        assert origin.template == f"{query.language}/treatment@1" and origin.status == "official"
        assert len(pairs(made, query.source_id)) == len(pairs(made, f"{GOUT}/treatment/en"))
    assert origins.keys() == {item.id for item in made["queries"]}


def test_a_question_is_under_the_licence_of_the_name_it_quotes(made: dict[str, list[Any]]) -> None:
    asked: dict[str, Query] = {
        item.language: item for item in made["queries"] if item.family == f"{GOUT}/cause"
    }
    assert {language: item.license for language, item in asked.items()} == {
        "en": "CC-BY-4.0", **dict.fromkeys(("es", "fr", "ja", "zh"), "LicenseRef-terms-INVENTED_T")
    }  # fmt: skip
    evidence = asked["es"].license_evidence
    assert (
        evidence
        == "template es/cause@1, CC0-1.0; the name in it is quoted from INVENTED_T: Terms of the inventor"
    )
    origins: dict[str, StringOrigin] = {item.query_id: item for item in made["strings"]}
    for query in asked.values():
        assert origins[query.id].license == query.license and origins[query.id].release == "2026-01"


def test_names_that_may_not_be_asked_by_are_left_out_with_a_reason(made: dict[str, list[Any]]) -> None:
    why = {item.id: item.reason for item in made["drops"] if item.unit == "question"}
    assert why[f"{GOUT}/cause/de"] == "only_unconfirmed_name"
    assert why[f"{GOUT}/cause/pt"] == "restricted_name"
    assert why[f"{GOUT}/cause/ru"] == "no_name_in_language"
    assert why[f"{KIND}/presentation/ja"] == "name_not_in_language"  # a Chinese string among Japanese names
    assert Counter(item.reason for item in made["drops"] if item.unit == "passage") == {
        "language_not_searched": 1
    }


def test_a_restricted_name_leaves_a_recipe_and_no_text(made: dict[str, list[Any]]) -> None:
    (recipe,) = (item for item in made["recipes"] if item.facet == "cause")
    text = recipe.frame.replace(HOLE, "gota úrica")
    assert sha256_text(text) == recipe.text_sha256 and sha256_text("gota úrica") == recipe.name_sha256
    assert recipe.query_id not in {item.id for item in made["queries"]}
    assert not any("gota úrica" in str(value) for value in (*made["queries"], *made["recipes"]))


def test_the_parallel_core_alone_needs_a_name_in_each_of_its_languages(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    kept = run(vocabulary, tmp_path, parallel_core=True)["queries"]
    assert {query.tier for query in kept} == {"parallel"}  # human text is there as people wrote it
    names = from_table(ConceptName, pq.read_table(vocabulary["names"]))
    freed = [replace(item, tier="terms") for item in names]
    whole = {**vocabulary, "names": tmp_path / "names.parquet"}
    pq.write_table(to_table(ConceptName, freed), whole["names"])
    families: dict[str, set[str]] = {}
    for query in run(whole, tmp_path, parallel_core=True)["queries"]:
        if query.tier == "parallel":
            continue
        families.setdefault(query.family, set()).add(query.language)
    assert families.keys() == {f"{GOUT}/{facet}" for facet in ("cause", "definition", "treatment")}
    assert all(found == set(CORE_LANGUAGES) for found in families.values())


def test_templates_quote_the_name_and_end_as_questions() -> None:
    for language, known in templates().items():
        assert {known.frames[facet][-1] for facet in FACETS} <= set("?？。"), language
        assert len(set(known.frames.values())) == len(FACETS)
        for facet in FACETS:
            text, start, end = known.ask(facet, "X y")
            assert text[start:end] == "X y" and not text[start - 1].isalnum() and not text[end].isalnum()
