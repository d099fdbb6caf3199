"""Which names a translator is given, and the check of concepts that does without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.concepts.opening import prepare
from curation.prompts.material import read_block
from curation.tasks.multilingual_evidence.checked import CHECKED
from curation.tasks.multilingual_evidence.records import TranslatedQuestion, WantedTranslation
from curation.tasks.multilingual_evidence.settings import NAME
from curation.tasks.multilingual_evidence.translation import TRANSLATION
from curation.tasks.multilingual_evidence.wanted import WANTED
from curation.tasks.shared.mining.records import IndexedView, View
from curation.tasks.shared.support.records import AnsweredQuery, LabelledPair
from flows.engine.runner import run_records
from schemas.benchmark import Query
from schemas.hashing import sha256_text
from schemas.prompt import By
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptRelation, ConceptType, Tier

GOUT, FEVER, JOINTS, CRYSTALS = "INV:1", "INV:2", "INV:3", "INV:4"
NAMES: tuple[tuple[str, str, str, str, Tier], ...] = (
    (GOUT, "toe gout", "en", "PT", "open"),
    (GOUT, "gota del dedo", "es", "PT", "terms"),
    (GOUT, "podagra antigua", "es", "SY", "terms"),
    (GOUT, "Zehengicht", "de", "CAND", "terms"),
    (GOUT, "gota do dedo", "pt", "PT", "restricted"),
    (FEVER, "marsh fever", "en", "PT", "open"),
    (FEVER, "fiebre de los pantanos", "es", "PT", "terms"),
    (JOINTS, "joint disease", "en", "PT", "open"),
    (JOINTS, "enfermedad articular", "es", "PT", "terms"),
    (CRYSTALS, "crystal deposit", "en", "PT", "open"),
    (CRYSTALS, "depósito de cristales", "es", "PT", "terms"),
)
ASKED = "Which finding in the joint proves toe gout in a patient without fever?"
SAID = "¿Qué hallazgo en la articulación demuestra la {} en un paciente sin fiebre?"


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small vocabulary: gout and marsh fever, one of them below joint disease."""
    folder = tmp_path_factory.mktemp("vocabulary")
    names = [
        ConceptName(
            concept=concept,
            name=name,
            language=language,
            term_type=kind,
            tier=tier,
            is_preferred=kind == "PT",
            source="INVENTED",
        )
        for concept, name, language, kind, tier in sorted(NAMES)
    ]
    concepts = (GOUT, FEVER, JOINTS, CRYSTALS)
    types = [ConceptType(concept=one, semantic_type="T047", group="DISO") for one in concepts]
    above = [ConceptRelation(concept=GOUT, relation="parent", other=JOINTS, source="INVENTED")]
    paths = {name: folder / f"{name}.parquet" for name in ("names", "types", "relations")}
    pq.write_table(to_table(ConceptName, names), paths["names"])
    pq.write_table(to_table(ConceptType, types), paths["types"])
    pq.write_table(to_table(ConceptRelation, above), paths["relations"])
    paths["vocabulary"] = folder / "index"
    prepare("native", paths["names"], paths["types"], paths["vocabulary"], {})
    return paths


def wanted(vocabulary: dict[str, Path], score: int | None = 2) -> tuple[list[Any], list[str]]:
    """What is to be translated of one question whose only pair has a label, and reasons of drops."""
    query = Query(
        id="q1", task=NAME, text=ASKED, language="en", source_id="questions:ours/1",
        article_id="questions:ours", license="CC0-1.0", license_evidence="ours",
        text_sha256=sha256_text(ASKED), family="question:1", targets=(GOUT, CRYSTALS),
    )  # fmt: skip
    both: tuple[tuple[View, tuple[str, ...]], ...] = (("question", (GOUT,)), ("answer", (CRYSTALS, GOUT)))
    views = [
        IndexedView(
            query_id="q1", view=view, source_id=query.source_id, article_key="", terms=(), concepts=told
        )
        for view, told in both
    ]
    labelled = LabelledPair(pair="q1 p1", query_id="q1", corpus_id="p1", score=score)
    given: dict[str, list[Any]] = {
        f"{NAME}_pairs.queries": [query],
        f"{NAME}_pairs.answers": [AnsweredQuery(query_id="q1", source_id="1", answer="A crystal deposit.")],
        f"{NAME}_pairs.views": views,
        f"{NAME}_labels.labelled": [labelled],
    }
    params = {**WANTED.params, "languages": ("de", "es", "pt")}
    rows, drops, _ = run_records(WANTED, given, params, {"names": vocabulary["names"]})
    return rows["wanted"], [drop.reason.value for drop in drops]


def checks(
    vocabulary: dict[str, Path], text: str, by: By = "model"
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Check -> (status, detail) of a Spanish translation, and reasons of drops."""
    (spanish,) = (one for one in wanted(vocabulary)[0] if one.language == "es")
    told = TranslatedQuestion(
        wanted=spanish.id, text=text, kind="translation@1", model="by-hand", served_model="",
        prompt_sha256="", by=by,
    )  # fmt: skip
    given: dict[str, list[Any]] = {
        f"{NAME}_wanted.wanted": [spanish],
        f"{NAME}_translations.translated": [told],
        f"{NAME}_back_translation_found.found": [],
    }
    resources = {name: vocabulary[name] for name in CHECKED.resources}
    rows, drops, _ = run_records(CHECKED, given, CHECKED.params, resources)
    found = {row.check: (row.status, row.detail) for row in rows["checks"]}
    assert len(rows["kept"]) + len(drops) == 1
    return found, [drop.reason.value for drop in drops]


def test_names_that_are_confirmed_and_may_be_passed_on_are_given(vocabulary: dict[str, Path]) -> None:
    by_language = {one.language: one for one in wanted(vocabulary)[0]}
    assert by_language.keys() == {"de", "es", "pt"}
    assert [name.name for name in by_language["es"].names] == ["gota del dedo"]
    assert not by_language["de"].names and not by_language["pt"].names  # unconfirmed; restricted
    given: dict[str, list[Any]] = {f"{NAME}_wanted.wanted": list(by_language.values())}
    rows, _, _ = run_records(TRANSLATION.asking, given, TRANSLATION.asking.params, {})
    (prompt,) = (one for one in rows["prompts"] if one.form == "es")
    assert read_block(prompt, "names") == "toe gout = gota del dedo"
    assert read_block(prompt, "query") == ASKED and prompt.subject == "q1/es"


def test_a_question_that_no_passage_supports_is_not_translated(vocabulary: dict[str, Path]) -> None:
    assert wanted(vocabulary, score=0) == ([], ["no_support"])
    assert wanted(vocabulary, score=None) == ([], ["no_support"])


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("gota del dedo", "passed"),  # the name that was given
        ("podagra antigua", "passed"),  # another name of the same concept
        ("enfermedad articular", "passed"),  # what is above it
        ("fiebre de los pantanos", "failed"),  # a sibling
        ("asma bronquial", "failed"),  # what no vocabulary knows
    ],
)
def test_concepts_are_looked_for_without_the_names_that_were_given(
    vocabulary: dict[str, Path], name: str, status: str
) -> None:
    found, dropped = checks(vocabulary, SAID.format(name))
    assert found["concepts"][0] == status
    assert dropped == (["concept_changed"] if status == "failed" else [])


def test_an_engine_that_was_shown_no_names_may_use_others(vocabulary: dict[str, Path]) -> None:
    found, dropped = checks(vocabulary, SAID.format("asma bronquial"), "engine")
    assert found["concepts"] == ("not_run", "lost: gota del dedo") and not dropped
    found, dropped = checks(vocabulary, SAID.format("fiebre de los pantanos"), "engine")
    assert found["concepts"] == ("failed", f"lost: gota del dedo; new: {FEVER}") and dropped


def test_a_name_of_the_hidden_answer_gives_it_away(vocabulary: dict[str, Path]) -> None:
    text = SAID.format("gota del dedo").replace("hallazgo", "depósito de cristales")
    found, dropped = checks(vocabulary, text)
    assert found["answer"] == ("failed", "depósito de cristales") and dropped
    assert found["back_translation"] == ("not_run", "no engine")


def test_a_question_without_a_translation_is_neither_kept_nor_rejected(vocabulary: dict[str, Path]) -> None:
    given: dict[str, list[Any]] = {
        f"{NAME}_wanted.wanted": wanted(vocabulary)[0],
        f"{NAME}_translations.translated": [],
        f"{NAME}_back_translation_found.found": [],
    }
    resources = {name: vocabulary[name] for name in CHECKED.resources}
    rows, drops, units = run_records(CHECKED, given, CHECKED.params, resources)
    assert not rows["checks"] and not rows["kept"] and not drops and units["translation"]["in"] == 0
    assert all(isinstance(one, WantedTranslation) for one in wanted(vocabulary)[0])
