"""Names below a root of an OBO file, and exact matching of whole words with offsets that re-extract."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.concepts.dictionary import build
from curation.concepts.obo import read_names
from schemas.errors import InputError
from schemas.vocabulary import ConceptName

OBO = """format-version: 1.2

[Term]
id: T:1
name: Finding

[Term]
id: T:2
name: Spotted skin
synonym: "Skin spots" EXACT []
synonym: "Dotty" RELATED []
is_a: T:1 ! Finding

[Term]
id: T:3
name: Deeply spotted skin
is_a: T:2

[Term]
id: T:4
name: Old finding
is_a: T:1
is_obsolete: true

[Term]
id: T:9
name: Severe
"""


@pytest.fixture
def names(tmp_path: Path) -> list[ConceptName]:
    path = tmp_path / "t.obo"
    path.write_text(OBO, "utf-8")
    return list(read_names(path, "T:1"))


def test_only_live_terms_below_the_root_give_names(names: list[ConceptName]) -> None:
    assert [(row.concept, row.name, row.is_preferred) for row in names] == [
        ("T:2", "Spotted skin", True),
        ("T:2", "Skin spots", False),
        ("T:3", "Deeply spotted skin", True),
    ]


def test_what_is_not_obo_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.obo"
    path.write_text("<html>", "utf-8")
    with pytest.raises(InputError, match="not an OBO file"):
        list(read_names(path, "T:1"))


def test_the_longest_whole_words_match_and_offsets_re_extract(names: list[ConceptName]) -> None:
    text = "Severe: deeply-spotted  SKIN, skin spots; spotted skins and spotted skin."
    found = list(build(names).find(text))
    assert [(text[match.start : match.end], match.concept) for match in found] == [
        ("deeply-spotted  SKIN", "T:3"),
        ("skin spots", "T:2"),
        ("spotted skin", "T:2"),
    ]


def test_a_label_wins_over_a_synonym_and_short_names_are_left_out() -> None:
    rows = [
        ConceptName(concept="T:1", name="Fever"),
        ConceptName(concept="T:2", name="fever", is_preferred=True),
        ConceptName(concept="T:3", name="ill", is_preferred=True),
    ]
    assert [match.concept for match in build(rows).find("ill with fever")] == ["T:2"]
