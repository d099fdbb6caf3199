"""Concept discrimination on an invented vocabulary: what stands beside the gold concept, what may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.extract.neutralise import restore
from curation.tasks.concept_discrimination.marks import mark
from curation.tasks.concept_discrimination.sets_sql import MEMBERS, TIERS
from curation.tasks.concept_discrimination.task import TASK
from schemas.benchmark import Transform
from schemas.concept import Mention
from schemas.vocabulary import ConceptName
from tests.curation.tasks.confusion_world import (
    ARTICLE,
    FAR,
    GOLD,
    GOOD,
    TRAPS,
    TWIN,
    build,
    definition,
    passage,
    source,
    vocabulary,
)

SAID = "The child was admitted with linnet pyrexia and went home."


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Rows of a query whose gold document shares no word with the marked ones."""
    return build(tmp_path_factory.mktemp("near"), vocabulary(), source(), passage(1, SAID))[2]


def test_every_trap_is_barred_for_its_own_reason(near: dict[str, list[Any]]) -> None:
    found = {row.concept: row.reason for row in near["checked"]}
    expected = {f"T:{name}": name for name in TRAPS} | {"T:same_name": "synonym", "T:hidden": "kind"}
    assert {concept: found[concept] for concept in expected} == expected
    assert {found[concept] for concept in GOOD[1:]} == {""}


def test_of_two_members_with_a_concept_below_both_one_is_taken(near: dict[str, list[Any]]) -> None:
    found = {row.concept: row for row in near["checked"]}
    barred = [row for row in (found[GOOD[0]], found[TWIN]) if row.reason]
    assert [row.reason for row in barred] == ["shared_with_member"]
    assert barred[0].detail in {GOOD[0], TWIN} - {barred[0].concept}


def test_a_set_has_the_gold_concept_and_seven_near_ones_of_the_highest_tier(
    near: dict[str, list[Any]],
) -> None:
    (query,) = near["queries"]
    members = [row for row in near["confusions"] if row.role == "member"]
    assert len(members) == MEMBERS and {row.kin for row in members} == {"sibling"}
    assert {row.concept for row in members} <= {*GOOD, TWIN}
    (gold,) = [row for row in near["confusions"] if row.role == "gold"]
    assert (gold.concept, gold.surface_distance, gold.names) == (GOLD, 0, 2)
    assert gold.below == ("T:below", "T:descendant", GOLD) and gold.above == ("T:gold", "T:grand", "T:parent")
    assert (query.tier, query.targets) == (TIERS["near", False], (GOLD,)) == ("3", (GOLD,))
    assert {row.id for row in near["documents"]} == {row.corpus_id for row in near["confusions"]}
    assert {row.license for row in near["documents"]} == {"CC-BY-4.0"}


def test_the_label_rests_on_the_words_of_the_passage(near: dict[str, list[Any]]) -> None:
    (query,), (label,) = near["queries"], near["qrels"]
    (evidence,) = label.evidence
    text = restore(query.text, query.transforms)
    assert "[[ linnet pyrexia ]]" in query.text and text.startswith(SAID)
    assert text[evidence.start : evidence.end] == evidence.text == "linnet pyrexia"


def test_shared_words_and_a_lot_decide_the_other_tiers(tmp_path: Path) -> None:
    told = vocabulary(gold_text=definition(670, "pyrexia"))
    passages = [passage(number, f"{SAID} It is number {number}.") for number in range(1, 6)]
    rows = build(tmp_path, told, source(), *passages)[2]
    kin: dict[str, set[str]] = {query.id: set() for query in rows["queries"]}
    for row in rows["confusions"]:
        kin[row.query_id].add(row.kin)
    assert {query.tier for query in rows["queries"]} == {"1", "2"} and len(rows["queries"]) == 5
    for query in rows["queries"]:
        assert kin[query.id] == {"itself", "far" if query.tier == "1" else "sibling"}
    far = {row.concept for row in rows["confusions"] if row.kin == "far"}
    assert far <= set(FAR)


def test_what_rests_on_no_author_alone_or_on_several_concepts_makes_no_query(tmp_path: Path) -> None:
    made = vocabulary()
    made.rows["names"].append(
        ConceptName(concept=GOOD[1], name="linnet pyrexia", source="T", term_type="BROAD")
    )
    other = "T:good2"
    texts = [
        passage(1, SAID),
        passage(2, f"It was {_name(made, other)} of the ward that was seen."),
        passage(3, f"The Clinical {_name(made, 'T:good3').capitalize()} Rating was used."),
        passage(4, f"It was severe {_name(made, 'T:good4')}, a kind of its own."),
        passage(5, "It was nothing anyone had called a name."),
    ]
    names = [_name(made, concept) for concept in (other, "T:good3", "T:good4")]
    longer = texts[3].text.index("severe"), texts[3].text.index(",")
    at = texts[1].text.index(names[0])
    mentions = (
        _mention(texts[3].id, *longer, texts[3].text, "T:other"),
        _mention(texts[1].id, at, at + len(names[0]), texts[1].text, "T:far01"),
    )
    keywords = ("Linnet pyrexia", *names, "unheard of", "called a name")
    kept, drops, rows = build(tmp_path, made, source(keywords=keywords), *texts, mentions=mentions)
    assert {row.detail: row.reason.value for row in drops} == {
        "A report": "not_in_a_passage",
        names[1]: "not_in_a_passage",
        names[2]: "not_in_a_passage",
        "unheard of": "not_in_a_passage",
    }
    assert len(kept["links"]) == 3 and rows["queries"] == []
    assert sorted(row.reason for row in rows["drops"]) == [
        "no_concept",
        "other_reading",
        "several_concepts",
    ]


def test_a_short_form_is_met_by_its_long_form_and_one_passage_asks_once(tmp_path: Path) -> None:
    made = vocabulary()
    made.rows["names"].append(ConceptName(concept=GOLD, name="LPX", source="T", term_type="AB"))
    keywords = ("LPX", _name(made, "T:good2"))
    first = passage(1, "It was linnet pyroxia (LPX) at first.")
    second = passage(2, f"The linnet pyroxia went on, without {keywords[1]}.")
    rows = build(tmp_path, made, source(keywords=keywords), first, second)[2]
    marked = {row.source_id: row.text.partition(" ]]")[0].partition("[[ ")[2] for row in rows["queries"]}
    assert marked[first.id] == "linnet pyroxia" and marked[second.id] in ("linnet pyroxia", keywords[1])
    assert [row.reason for row in rows["drops"]] == ["same_passage"]


def _name(made: Any, concept: str) -> str:
    return str(next(row.name for row in made.rows["names"] if row.concept == concept))


def _mention(text_id: str, start: int, end: int, text: str, concept: str) -> Mention:
    return Mention(
        article_id=ARTICLE,
        text_id=text_id,
        start=start,
        end=end,
        text=text[start:end],
        concept=concept,
        name="x",
    )


def test_marks_move_what_stands_behind_them_and_come_off_again() -> None:
    changes = (
        Transform(start=2, end=2, original="xx", rule="r"),
        Transform(start=9, end=10, original="", rule="r"),
    )
    text, made = mark("ab cdef gh", changes, 3, 7)
    assert text == "ab [[ cdef ]] gh"
    assert restore(text, made) == "abxx cdef g"


def test_it_declares_what_it_is() -> None:
    assert TASK.extra_tables == ("confusions",) and [grade.score for grade in TASK.grades] == [2, 0]
