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
    answered,
    facet_of_heading,
    facets_of_types,
    neighbours,
    touched,
)
from curation.tasks.crosslingual_qa.records import StringOrigin
from curation.tasks.crosslingual_qa.task import TASK
from curation.tasks.crosslingual_qa.templates import HOLE, templates
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Abstract, Article, Licence, Translated
from schemas.benchmark import CORE_LANGUAGES, Query
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.record import from_table, to_table
from schemas.stages import Drop, RecordStage
from schemas.vocabulary import ConceptName, ConceptRelation, ConceptType, Tier, VocabularySource

BOOK = "openstax:inventions/m1"
GOUT, FEVER, KIND, TOE = "INV:1", "INV:2", "INV:3", "INV:4"
NAMES: tuple[tuple[str, str, str, str, Tier], ...] = (
    (GOUT, "gout", "en", "PT", "open"),
    (GOUT, "Gicht", "de", "CAND", "terms"),
    (GOUT, "gota", "es", "PT", "terms"),
    (GOUT, "goutte", "fr", "PT", "terms"),
    (GOUT, "痛風", "ja", "PT", "terms"),
    (GOUT, "gota úrica", "pt", "PT", "restricted"),
    (GOUT, "痛风", "zh", "PT", "terms"),
    (KIND, "podagra", "en", "PT", "open"),
    (KIND, "足痛风", "ja", "PT", "terms"),
    (FEVER, "marsh fever", "en", "PT", "open"),
    (TOE, "redtoe", "en", "PT", "open"),
)
SOURCES: dict[Tier, tuple[str, str]] = {
    "open": ("INVENTED", "CC-BY-4.0"),
    "terms": ("INVENTED_T", "Terms of the inventor"),
    "restricted": ("INVENTED_R", "Terms of the miser"),
}
PASSAGES = (
    (("Gout", "Treatment"), "Attacks of gout are relieved by rest, and colchicine is given within one day."),
    (("Gout", "Causes"), "In gout, crystals of an acid that the kidneys do not pass settle in a joint."),
    (("Gout",), "Gout is a disease of joints that was known to physicians of antiquity long before."),
    (("Gout",), "Statues of kings with gout were often carved with one foot upon a low cushion."),
    (("Gout", "Podagra"), "Podagra is characterized by a hot swollen toe that wakes the sleeper at night."),
    (
        ("Marsh fever", "Treatment"),
        "Marsh fever is treated with bark; those with gout need a smaller amount of it.",
    ),
    (
        ("Marsh fever",),
        "La fiebre de los pantanos se trata con corteza y reposo durante varios días seguidos.",
    ),
    (
        ("Gout", "Podagra", "Redtoe"),
        "Redtoe is characterized by a red toe at dawn, and by a red nose at dusk.",
    ),
)


def written(mention: str, text: str, place: str, concept: str) -> list[Mention]:
    """Every place of a name in a text."""
    found, at = [], text.lower().find(mention)
    while at >= 0:
        words = text[at : at + len(mention)]
        found.append(
            Mention(
                article_id=BOOK,
                text_id=place,
                start=at,
                end=at + len(mention),
                text=words,
                concept=concept,
                name=mention,
            )
        )
        at = text.lower().find(mention, at + 1)
    return found


def rows() -> dict[str, list[Any]]:
    """The textbook as extracted and grounded."""
    source = Source(
        id=BOOK, title="Joints and fevers", language="en", is_book=True, raw_sha256="0" * 64,
        licence=Licence(spdx="CC-BY-4.0", evidence="invented"),
    )  # fmt: skip
    passages, mentions = [], []
    for number, (path, text) in enumerate(PASSAGES, 1):
        passage = Passage(
            id=f"{BOOK}#p{number}", article_id=BOOK, number=number, section=number, section_path=path,
            text=text, text_sha256=sha256_text(text), language="es" if text.startswith("La ") else "en",
        )  # fmt: skip
        passages.append(passage)
        for concept, name in ((GOUT, "gout"), (KIND, "podagra"), (FEVER, "marsh fever"), (TOE, "redtoe")):
            mentions += written(name, text, passage.id, concept)
    return {
        "extract.sources": [source, *in_two_languages("extract.sources")],
        "extract.passages": passages,
        "ground.mentions": mentions,
        **{name: in_two_languages(name) for name in ("parse.articles", "extract.figures", "ground.concepts")},
    }


REPORT, LETTER = "doi:10.1/report", "doi:10.1/letter"
ABSTRACT = "A man of fifty had a hot toe for three days.\nRest and colchicine relieved the attack of gout."
RESUMEN = "Un hombre de cincuenta años tuvo un dedo caliente durante tres días.\nEl reposo alivió la gota."


def abstract(language: str, text: str) -> Abstract:
    return Abstract(language=language, type="", text=text)


def in_two_languages(table: str) -> list[Any]:
    """A report with a Spanish title, abstract and caption; a letter whose title says the same in English."""
    licence = Licence(spdx="CC-BY-4.0", evidence="invented")
    title, hot = "Acute gout of the great toe in a man of fifty", "The hot toe of a man on the third day"
    spanish = [
        Translated(language="es", text="Gota aguda del dedo gordo en un hombre de cincuenta años"),
        Translated(language="pt", text="Erratum"),
        Translated(language="fr", text="Acute gout of the great toe in a man of fifty"),
    ]
    captions = (Translated(language="es", text="El dedo caliente de un hombre en el tercer día"),)
    sources = [
        Source(id=name, title=title, language="en", licence=licence, raw_sha256="0" * 64)
        for name in (REPORT, LETTER)
    ]
    articles = [
        Article(
            id=name, source="folder", language="en", title=said, licence=licence, raw_sha256="0" * 64,
            translated_titles=tuple(spanish) if name == REPORT else (), abstracts=abstracts,
        )
        for name, said, abstracts in (
            (REPORT, title, (abstract("en", ABSTRACT), abstract("es", RESUMEN))),
            (LETTER, "On gout and toes", (abstract("es", RESUMEN.replace("tres", "cuatro")),)),
        )
    ]  # fmt: skip
    figure = Figure(
        id=f"{REPORT}#F1", article_id=REPORT, number=1, caption=hot, section=1, licence=licence,
        translations=captions,
    )  # fmt: skip
    named = DocumentConcept(
        article_id=REPORT, concept=GOUT, name="gout", mentions=2, asserted=2, in_title=True
    )
    made: dict[str, list[Any]] = {
        "extract.sources": sources, "parse.articles": articles, "extract.figures": [figure],
        "ground.concepts": [named],
    }  # fmt: skip
    return made[table]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("vocabulary")
    names = [
        ConceptName(
            concept=concept,
            name=name,
            language=language,
            term_type=kind,
            tier=tier,
            is_preferred=True,
            source=SOURCES[tier][0],
            restriction=3 if tier == "restricted" else 0,
        )
        for concept, name, language, kind, tier in sorted(NAMES)
    ]
    types = [ConceptType(concept=c, semantic_type="T047", group="DISO") for c in (GOUT, FEVER, KIND, TOE)]
    above = [
        ConceptRelation(concept=low, relation="parent", other=high, source="INVENTED")
        for low, high in ((KIND, GOUT), (TOE, KIND))
    ]
    sources = [
        VocabularySource(
            source=name, title=name, release="2026-01", licence=licence, tier=tier, sha256="0" * 64
        )
        for tier, (name, licence) in SOURCES.items()
    ]
    paths = {name: folder / f"{name}.parquet" for name in ("names", "types", "relations", "sources")}
    pq.write_table(to_table(VocabularySource, sources), paths["sources"])
    pq.write_table(to_table(ConceptName, names), paths["names"])
    pq.write_table(to_table(ConceptType, types), paths["types"])
    pq.write_table(to_table(ConceptRelation, above), paths["relations"])
    return paths


def run(vocabulary: dict[str, Path], folder: Path, **params: Any) -> dict[str, list[Any]]:
    """All stages of the task, one after the other; drops of all together."""
    tables: dict[str, list[Any]] = rows()
    drops: list[Drop] = []
    for stage in TASK.stages:
        if isinstance(stage, RecordStage):
            given = {item.table: tables[item.table] for item in stage.inputs}
            resources = {name: vocabulary[name] for name in stage.resources}
            kept, lost, _ = run_records(
                stage, given, {**stage.params, "min_document_words": 5, **params}, resources
            )
            drops += lost
            tables |= {f"{stage.name}.{name}": made for name, made in kept.items()}
            continue
        inputs = {}
        for view, (table, kind) in stage.inputs.items():
            inputs[view] = [folder / f"{table}.parquet"]
            pq.write_table(to_table(kind, tables[table]), inputs[view][0])
        out = folder / stage.name / "all"
        out.mkdir(parents=True, exist_ok=True)
        made, _, _ = run_set_stage(stage, inputs, out, "1GB")
        for name, sql in stage.outputs.items():
            file = made["_dropped" if name == "drops" else name].file
            tables[f"{stage.name}.{name}"] = from_table(sql.row, pq.read_table(out / file))
    return {name.rpartition(".")[2]: found for name, found in tables.items()} | {"drops": drops}


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


def test_neighbours_are_symmetric_and_every_facet_can_be_asked_of_a_disease() -> None:
    assert all(facet in neighbours(other) for facet in FACETS for other in neighbours(facet))
    assert facets_of_types(("T047",)) == set(FACETS)
    assert "prognosis" not in facets_of_types(("T184",)) and facets_of_types(()) == frozenset()


@pytest.mark.parametrize(
    ("heading", "facet"),
    [
        ("3.2. Treatment of", "treatment"),
        ("Signs and Symptoms", "presentation"),
        ("Clinical presentation", "presentation"),
        ("Laboratory Diagnosis", "diagnosis"),
        ("Etiology", "cause"),
        ("Risk factors", None),
        ("Diagnosis and treatment", None),
        ("Treatment groups", None),
        ("Differential diagnosis", None),
        ("Methods", None),
    ],
)
def test_a_heading_announces_one_facet_or_none(heading: str, facet: str | None) -> None:
    assert facet_of_heading(heading) == facet


@pytest.mark.parametrize(
    ("sentence", "facets"),
    [
        ("Gout is an inflammatory disease of the joints.", {"definition"}),
        ("Gout is a risk factor for heart disease.", set()),
        ("Renal gout is a rare disease.", set()),
        ("Gout is a very rare disease.", set()),
        ("Gout is a rare disease of sailors.", {"definition"}),
        ("Our view of rest in the treatment of gout is limited to mice.", set()),
        ("Gout (UAD) is most often caused by crystals.", {"cause"}),
        ("Symptoms of gout include a hot toe.", {"presentation"}),
        ("Drugs relieved the symptoms of gout in mice.", set()),
        ("The diagnosis of gout requires crystals in the joint.", {"diagnosis"}),
        ("Colchicine is used to treat gout.", {"treatment"}),
        ("Our patient with gout is treated with colchicine.", set()),
        ("The prognosis of gout is good.", {"prognosis"}),
        ("Gout has a poor prognosis without care.", {"prognosis"}),
        ("Ink is a sign used for gout diagnosis.", set()),
        ("Ink is used for gout.", {"treatment"}),
        ("Gout presents itself with both slow and fast forms.", set()),
        ("Gout presents with a hot toe.", {"presentation"}),
        ("Wine was the only risk factor for gout: it doubled the odds.", set()),
        ("Crystals are the cause of gout.", {"cause"}),
        ("Gout is the second most frequent type of disease worldwide.", set()),
        ("Gout is the most common type of inflammatory disease.", {"definition"}),
    ],
)
def test_a_sentence_answers_by_the_words_around_the_name(sentence: str, facets: set[str]) -> None:
    start = sentence.lower().index("gout")
    assert set(answered(sentence, start, start + 4)) == facets


@pytest.mark.parametrize(
    ("sentence", "facets"),
    [
        # denied
        ("No herb, drug or diet is approved for gout.", set()),
        ("Leeches are not effective for gout.", set()),
        ("There is no treatment of gout that lasts.", set()),
        ("Neither rest nor wine is the treatment of choice for gout.", set()),
        ("Treatment of gout is not needed between attacks.", set()),
        ("Cold water isn’t used to treat gout.", set()),
        ("Colchicine is not only used to treat gout but also relieves other fevers.", {"treatment"}),
        ("In sailors with no kidney disease, colchicine is used to treat gout.", {"treatment"}),
        ("Wine does no harm, but colchicine is used to treat gout.", {"treatment"}),
        ("Colchicine is used to treat gout that does not respond to rest.", {"treatment"}),
        ("Symptoms of gout include a hot toe, not a cold one.", {"presentation"}),
        # unknown
        ("It is unclear which species cause gout.", set()),
        ("The pathogenesis of gout remains poorly understood.", set()),
        ("The prognosis of gout is still debated.", set()),
        ("The causes of gout are unknown, but involve the kidneys.", {"cause"}),
        ("Although its cause is unknown, colchicine is used to treat gout.", {"treatment"}),
        ("Evidence on the outcomes of gout is scarce.", set()),
        # told elsewhere
        ("Symptoms of gout are listed in Table 4.", set()),
        ("The treatment of gout is discussed in the next chapter.", set()),
        ("Gout is treated in Section 5.2.", set()),
        ("The diagnosis of gout is reviewed in detail elsewhere.", set()),
        ("The prognosis of gout is outside the scope of this essay.", set()),
        ("As shown in Figure 2, crystals are the cause of gout.", {"cause"}),
        ("Symptoms of gout include a hot toe (listed in Table 4).", {"presentation"}),
        ("Gout is found in other parts of the body and is an inflammatory disease.", set()),
        # who, where, when, beside what
        ("Gout is often identified as a comorbidity.", set()),
        ("Gout is often diagnosed late.", set()),
        ("Gout is usually diagnosed by needle.", {"diagnosis"}),
        ("Gout is usually managed by rheumatologists.", set()),
        ("Gout is mostly treated in primary care.", set()),
        ("Gout is mostly treated by rest and colchicine.", {"treatment"}),
        ("Signs of gout must be monitored.", set()),
        # how great a burden
        ("Gout is a major public health disorder.", set()),
        ("Gout is an important disease in this region.", set()),
        ("Gout is a serious and growing health condition among sailors.", set()),
        ("Gout is an uncommon condition with a prevalence of 2%.", set()),
        ("Gout is a common disease in which crystals settle in joints.", {"definition"}),
        ("Gout is a painful metabolic disease in this region.", {"definition"}),
    ],
)
def test_what_is_denied_unknown_told_elsewhere_or_a_burden_is_no_answer(
    sentence: str, facets: set[str]
) -> None:
    start = sentence.lower().index("gout")
    assert set(answered(sentence, start, start + 4)) == facets


def test_words_of_a_facet_are_told_where_they_stand() -> None:
    assert touched("It resolves after surgery.") == ("treatment",)
