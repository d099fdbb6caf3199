"""Concept discrimination: which definitions may be a concept's document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schemas.vocabulary import ConceptDefinition, ConceptName
from tests.curation.tasks.confusion_world import GOLD, GOOD, build, definition, passage, source, vocabulary

SAID = "The child was admitted with linnet pyrexia and went home."


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("The presence of the pyrexia of linnets.", ""),
        ("The presence of a fever in the linnets.", "empty_definition"),
        ("A linnet in which there is a fever and no more.", "empty_definition"),
        ("The presence of fever in a finch or linnet.", ""),
    ],
)
def test_a_definition_in_no_words_but_those_of_the_name_is_no_document(
    tmp_path: Path, text: str, flaw: str
) -> None:
    rows = build(tmp_path, vocabulary(text), source(), passage(1, SAID))[2]
    found = {row.concept: row.flaw for row in rows["defined"]}
    assert found[GOLD] == flaw and found[GOOD[0]] == ""
    assert (flaw in [row.reason for row in rows["drops"] if row.unit == "query"]) == bool(flaw)


@pytest.mark.parametrize(
    ("label", "code", "flaw"),
    [
        ("Finch fever", "U:1", "other_definition"),
        ("Linnet fevers", "U:1", ""),
        ("Linnet pyrexia", "U:1", ""),  # a further name of the concept in the other source
        ("Finch fever", "", ""),  # the source whose concept it is
    ],
)
def test_a_definition_that_came_with_another_concept_is_no_document(
    tmp_path: Path, label: str, code: str, flaw: str
) -> None:
    made = vocabulary()
    made.rows["names"] = [replace(row, is_preferred=row.term_type == "PT") for row in made.rows["names"]]
    made.rows["names"].append(
        ConceptName(concept=GOLD, name=label, source="U", code=code, term_type="PT", is_preferred=True)
    )
    made.rows["definitions"] = [
        replace(row, source="U") if row.concept == GOLD else row for row in made.rows["definitions"]
    ]
    made.rows["sources"].append(replace(made.rows["sources"][0], source="U"))
    rows = build(tmp_path, made, source(), passage(1, SAID))[2]
    assert {row.concept: row.flaw for row in rows["defined"]}[GOLD] == flaw
    assert [row.reason for row in rows["drops"] if row.unit == "query"] == ([flaw] if flaw else [])
    own = ConceptDefinition(concept=GOLD, text=definition(671), source="V")
    made.rows["definitions"].append(own)
    best = build(tmp_path / "two", made, source(), passage(1, SAID))[2]["defined"]
    assert {row.concept: row.source for row in best}[GOLD] == ("V" if flaw else "U")
