"""What may be asked of a case whose diagnosis is hidden, where it is cut and why, and who answers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.extract.neutralise import restore
from curation.tasks.clinical_case.clues import read_clues
from curation.tasks.clinical_case.task import TASK
from curation.tasks.shared.wordings import Name, Wordings
from schemas.article import Abstract
from schemas.hashing import sha256_text
from schemas.record import to_table
from schemas.vocabulary import ConceptRelation
from tests.curation.tasks.case_world import Built, Patient, Report, curie, run, story, write_vocabulary

BEFORE, AFTER = "The patient had felt unwell for weeks. " + story(7, 60), story(8, 30)
"""What a query keeps, and what comes after a sentence that gives the diagnosis away."""


def pmc(number: int) -> str:
    return f"pmc:PMC{number}.1"


def told(number: int, sentence: str, concept: str = "gout", **changes: Any) -> Report:
    """A report with a sentence in the middle of its case."""
    text = f"{BEFORE} {story(100 + number, 5)} {sentence} {AFTER}".replace("  ", " ")
    parsed = changes.pop("parsed", {})
    return Report(pmc(number), [Patient([text], concept, **changes)], parsed=parsed)


def other(number: int, concept: str = "gout") -> Report:
    """A case of the same diagnosis that tells it at once, so that it answers and asks nothing."""
    return Report(pmc(number), [Patient([f"It was {concept}. {story(200 + number)}"], concept)])


def build(reports: list[Report], folder: Path, **params: Any) -> Built:
    return run(reports, folder, TASK, **params)


def hidden(built: Built) -> tuple[str, Any]:
    """The one query and its cut, None when it was not cut."""
    (query,) = built.queries
    return query.text, next(iter(built.tables["cuts"]), None)


LEAKS = (
    ("The diagnosis was gout.", "name", "gout"),
    ("Podagra-Disease was found.", "name", "Podagra-Disease"),
    ("There was no gout in the family.", "name", "gout"),
    ("Gouty tophi were seen.", "word", "Gouty"),
    ("A Lebrun joint was described.", "eponym", "Lebrun"),
    ("She was known to the UAD clinic.", "name", "UAD"),
    ("An arthropathy was seen.", "word", "arthropathy"),
)


@pytest.mark.parametrize(("sentence", "how", "words"), LEAKS)
def test_a_query_ends_before_the_sentence_that_gives_it_away(
    sentence: str, how: str, words: str, tmp_path: Path
) -> None:
    built = build([told(1, sentence), other(2)], tmp_path)
    text, cut = hidden(built)
    document = next(row for row in built.documents if row.id == f"{pmc(1)}#case1")
    assert text == document.text[: document.text.index(sentence)].rstrip()
    assert (cut.how, cut.text) == (how, words)
    assert restore(document.text, document.transforms)[cut.start : cut.end] == words


def test_words_of_a_name_that_stand_apart_give_it_away(tmp_path: Path) -> None:
    sentence = "The lung showed bands of fibrosis."
    built = build([told(1, sentence, "fibrosis"), other(2, "fibrosis")], tmp_path)
    text, cut = hidden(built)
    assert "lung" not in text and cut.text == "lung showed bands of fibrosis"


def test_a_near_relative_gives_it_away_and_a_wide_one_does_not(tmp_path: Path) -> None:
    """'pneumonia' has three concepts below it, 'disease' hundreds, and 'viral' is a sibling."""
    for at, (name, is_telling) in enumerate((("pneumonia", True), ("viral", False), ("disease", False))):
        folder = tmp_path / name
        folder.mkdir()
        sentence = f"In March {name} was on the form."
        text, cut = hidden(
            build([told(1, sentence, "bacterial"), other(2, "bacterial")], folder, max_family=6)
        )
        assert (f"{name} was" not in text) is is_telling, at
        assert (cut is not None) is is_telling


def test_what_the_presentation_denies_is_left_out_and_cuts_nothing(tmp_path: Path) -> None:
    """In the findings a denial may be read wrongly out of the very sentence that states the diagnosis."""
    sentence, after = "There was no pneumonia in March.", "The spring was long."
    for role in ("presentation", "findings"):
        folder = tmp_path / role
        folder.mkdir()
        report = told(1, f"{sentence} {after}", "bacterial", denies=("pneumonia",), roles={0: role})
        text, cut = hidden(build([report, other(2, "bacterial")], folder, max_family=6))
        assert sentence not in text
        assert (after in text, cut is None) == (role == "presentation",) * 2


def test_short_forms_that_only_the_abstract_explains_count(tmp_path: Path) -> None:
    abstract = Abstract(language="en", type="", text="We report Podagra disease (PD) in a sailor.")
    for parsed in ({"abstracts": (abstract,)}, {"abbreviations": ("PD = Podagra disease",)}):
        folder = tmp_path / next(iter(parsed))
        folder.mkdir()
        text, cut = hidden(build([told(1, "PD was suspected.", parsed=parsed), other(2)], folder))
        assert "PD" not in text and (cut.how, cut.text) == ("short_form", "PD")


def test_a_case_that_gives_it_away_early_makes_no_query(tmp_path: Path) -> None:
    built = build([other(1), told(2, "")], tmp_path)
    (drop,) = [row for row in built.drops if row.id == f"{pmc(1)}#case1"]
    assert (drop.reason, drop.detail) == ("revealed_early", "0 words before 'gout' (name)")
    assert {row.id for row in built.documents} == {f"{pmc(1)}#case1", f"{pmc(2)}#case1"}


def test_the_course_is_not_asked_and_nothing_behind_a_cut_is(tmp_path: Path) -> None:
    texts = [
        f"It began in May. {story(1, 60)}",
        "She was given a pill.",
        "An image was taken.",
        "It was gout.",
    ]
    roles = {1: "course", 2: "findings", 3: "course"}
    built = build([Report(pmc(1), [Patient(texts, "gout", roles=roles)]), other(2)], tmp_path)
    text, cut = hidden(built)
    assert text == f"{texts[0]}\n{texts[2]}" and cut.text == "gout"
    (query,) = built.queries
    assert query.text_sha256 == sha256_text(text)


def test_no_name_is_put_together_by_what_is_left_out(tmp_path: Path) -> None:
    texts = [
        story(1, 60),
        "He fell on his back",
        "A pill was given.",
        "Of house and garden nothing was told.",
    ]
    roles = {2: "course"}
    built = build([Report(pmc(1), [Patient(texts, "scabies", roles=roles)]), other(2, "scabies")], tmp_path)
    text, cut = hidden(built)
    assert text == f"{texts[0]}\n{texts[1]}" and cut.text == texts[3]


def test_a_language_without_names_cannot_be_hidden_in(tmp_path: Path) -> None:
    report = told(1, "")
    foreign = Report(pmc(1), report.patients, source={"language": "es"})
    assert build([foreign, other(2)], tmp_path).reasons("query")[f"{pmc(1)}#case1"] == "not_named_in_language"


def test_what_a_query_publishes(tmp_path: Path) -> None:
    (query,) = build([told(1, "It was gout."), other(2)], tmp_path).queries
    assert query.hides_target and query.targets == ("MONDO:gout",)
    assert (query.image, query.tier, query.patient_id) == (None, "", f"{pmc(1)}#case1")
    assert query.scenario == "case"


def test_only_the_same_diagnosis_answers_and_what_may_be_it_is_left_out(tmp_path: Path) -> None:
    reports = [
        told(1, "", "bacterial"),
        other(2, "bacterial"),
        other(3, "pneumonia"),
        other(4, "pneumococcal"),
        other(5, "viral"),
        Report(pmc(6), [Patient([story(6)], "acne", names=("bacterial",))]),
        Report(pmc(7), [Patient([story(17)], "", contenders=("bacterial", "gout"))]),
        other(8, "gout"),
    ]
    built = build(reports, tmp_path)
    mine = {pair[1]: row for pair, row in built.labels().items() if pair[0] == f"{pmc(1)}#case1"}
    assert {name: (row.score, row.rule) for name, row in mine.items()} == {
        f"{pmc(2)}#case1": (2, "clinical_case/same-diagnosis@1")
    }
    excluded = {pair[1]: why for pair, why in built.excluded().items() if pair[0] == f"{pmc(1)}#case1"}
    assert excluded == {
        f"{pmc(1)}#case1": "own_case",
        **{f"{pmc(number)}#case1": "related_diagnosis" for number in (3, 4, 5)},
        **{f"{pmc(number)}#case1": "mentions_target" for number in (6, 7)},
    }


def test_patients_of_one_article_answer_apart(tmp_path: Path) -> None:
    twins = Report(pmc(1), [Patient([f"{story(1)} It was gout."], "gout"), Patient([story(2)], "gout")])
    built = build([twins, other(3)], tmp_path)
    assert {row.rule for row in built.tables["same_article"]} == {"clinical_case/same-article@1"}
    assert {pair[1] for pair in built.labels()} == {f"{pmc(3)}#case1"}


def test_cases_that_are_one_before_the_cut_ask_once(tmp_path: Path) -> None:
    texts = [f"{BEFORE} It was gout. {story(at)}" for at in (1, 2)]
    reports = [Report(pmc(at), [Patient([text], "gout")]) for at, text in enumerate(texts, start=1)]
    built = build([*reports, other(3)], tmp_path)
    assert [row.source_id for row in built.queries] == [f"{pmc(1)}#case1"]
    assert built.reasons("query")[f"{pmc(2)}#case1"] == "duplicate_query"


def test_what_points_to_the_diagnosis_is_listed_and_left_in(tmp_path: Path) -> None:
    folder = tmp_path / "vocabulary"
    folder.mkdir()
    relations = write_vocabulary(folder)["relations"]
    assert read_clues(relations) is None
    drug = [ConceptRelation(concept=curie("gout"), relation="drug", other=curie("cyst"), source="TEST")]
    wide = [
        ConceptRelation(concept=curie(name), relation="test", other=curie("acne"), source="TEST")
        for name in ("gout", "scabies", "fibrosis")
    ]
    rows = to_table(ConceptRelation, [*drug, *wide])
    with_clues = folder / "more.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(relations), rows]), with_clues)
    with_clues.replace(relations)
    read_clues.cache_clear()
    reports = [
        told(1, "A little cyst was taken off.", names=("cyst",)),
        told(2, "An acne test was done.", names=("acne",)),
        other(3),
    ]
    built = build(reports, tmp_path, max_diseases=2)
    read_clues.cache_clear()
    tiers = {row.source_id: row.tier for row in built.queries}
    assert tiers == {f"{pmc(1)}#case1": "gives_away", f"{pmc(2)}#case1": "hidden"}
    (clue,) = built.tables["gives_away"]
    query = next(row for row in built.queries if row.id == clue.query_id)
    source = restore(query.text, query.transforms)
    assert (clue.kind, clue.text, source[clue.start : clue.end]) == ("drug", "cyst", "cyst")


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("A systemic lupus was seen.", True),
        ("Brain scans showed oedema.", False),
        ("The word Kellgren stood there.", True),
        ("Kellgrenoid changes were seen.", True),
        ("Peripheral oedema was seen.", False),
    ],
)
def test_wordings(text: str, is_told: bool) -> None:
    names = [
        Name("X:1", "en", "Peripheral Kellgren lupus of joints", "HPO"),
        Name("X:1", "en", "Kellgren's lupus", "MONDO"),
        Name("X:1", "en", "lupus", "MONDO"),
    ]
    counts = {"lupus": 1, "kellgren": 1, "peripheral": 500, "joint": 500}
    assert (Wordings.of("X:1", names, (), (), counts).find(text) is not None) is is_told
