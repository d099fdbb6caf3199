"""What the vocabulary knows of the diseases in a sentence decides with its words whether it is chosen."""

from __future__ import annotations

import pytest

from curation.diagnosis import sentences
from curation.diagnosis.grounded import Grounded, Kind, Name
from curation.diagnosis.statements import select
from curation.diagnosis.topic import topic_of

TITLE = "Falciparum malaria with a ruptured spleen"
TOPIC = topic_of(TITLE)
CAME = "He came with fever."
"""Three sentences, so that none of them stands out by its place alone."""


def of(sentence: str, kind: Kind, name: str) -> Grounded:
    """One name in the second of three sentences of a case whose concept is known."""
    start = sentence.index(name)
    return Grounded([[], [Name(start, start + len(name), kind)], []], is_known=True)


def chosen(sentence: str, grounded: Grounded) -> list[int]:
    return [at for at, _ in select([CAME, sentence, "He went home."], TOPIC, (), grounded)]


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Laboratory tests confirmed blackwater ague.", "blackwater ague"),
        ("A thick film revealed blackwater ague.", "blackwater ague"),
    ],
)
def test_a_synonym_beside_a_cue_is_as_good_as_the_words_of_the_title(sentence: str, name: str) -> None:
    assert chosen(sentence, of(sentence, "concept", name)) == [1]
    assert chosen(sentence, of(sentence, "finding", name)) == []


def test_a_name_that_the_sentence_takes_back_is_none() -> None:
    sentence = "A thick film ruled out blackwater ague."
    assert of(sentence, "concept", "blackwater ague").affirmed(1, sentence) == []
    assert chosen(sentence, of(sentence, "concept", "blackwater ague")) == []


@pytest.mark.parametrize(
    ("kind", "expected"), [("concept", "concept"), ("wider", "wider"), ("disease", "disease")]
)
def test_the_name_that_says_most_stands_for_what_a_cue_states(kind: Kind, expected: str) -> None:
    sentence = "He was diagnosed with blackwater ague and anaemia."
    names = of(sentence, kind, "blackwater ague").names[1]
    both = Grounded([[*names, Name(41, 48, "finding")]], is_known=True)
    ((found, _),) = sentences.features([sentence], TOPIC, both)
    assert f"explicit: {expected}" in found and not found & {"explicit: finding", "explicit: cue"}


def test_words_of_the_topic_stand_for_the_concept_where_none_is_known() -> None:
    said = ["He was diagnosed with falciparum malaria."]
    ((found, _),) = sentences.features(said, TOPIC)
    assert {"explicit: concept", "concept named"} <= found
    ((found, _),) = sentences.features(said, TOPIC, Grounded([[]], is_known=True))
    assert "explicit: cue" in found and "concept named" not in found
