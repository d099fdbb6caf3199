"""Names found in other words for some of theirs, and how these are counted."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import pytest

from curation.concepts.native import NativeMatcher
from curation.concepts.normalise import language_of
from curation.concepts.paraphrases import DATA, LONGEST, MOST, Paraphrase, ways
from scripts import paraphrases as counted
from scripts.word_families import Bags, bags

NAMES = (
    "1=Lower limb spasticity", "2=Bilateral patella fracture", "3=Paranasal sinus polyp",
    "4=Mucolipidosis 1", "5=Ulnar nerve trauma", "6=Spasticity", "7=Patella",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("There was spasticity of the legs.", "T:1"),
        ("Leg spasticity came first.", "T:1"),
        ("an accessory sinus polyp", "T:3"),
        ("injury of the ulnar nerve", "T:5"),
    ],
)
def test_other_words_for_some_of_a_name_are_its_concept(
    matcher: Callable[..., NativeMatcher], text: str, concept: str
) -> None:
    assert (concept, "paraphrase") in {(item.concept, item.rule) for item in matcher(*NAMES).find(text)}


@pytest.mark.parametrize(
    "text",
    [
        "1 mL of saline",  # what is left of the name is a number
        "an accessory polyp",  # only beside "sinus"
        "spasticity and leg ulcers",  # words of two things
        "a leg spasticity patella",  # the phrase goes on
        "legs of spasticity wards",  # another head
    ],
)
def test_what_only_has_such_words_is_not(matcher: Callable[..., NativeMatcher], text: str) -> None:
    assert [item for item in matcher(*NAMES).find(text) if item.rule == "paraphrase"] == []


def test_own_words_win(matcher: Callable[..., NativeMatcher]) -> None:
    found = matcher("1=Lower limb spasticity", "2=Leg spasticity").find("leg spasticity")
    assert [(item.concept, item.rule) for item in found] == [("T:2", "exact")]


def test_other_languages_have_none(matcher: Callable[..., NativeMatcher]) -> None:
    found = matcher("1=Lower limb spasticity", language="de").find("leg spasticity", "de")
    assert [item for item in found if item.rule == "paraphrase"] == []


def test_a_name_has_few_ways_and_keeps_some_of_its_words() -> None:
    words = language_of("en").words
    assert list(ways(words(["patella"]))) == []
    assert list(ways(words(["patella"] * (LONGEST + 1)))) == []
    for name in ("autosomal recessive lower limb spasticity of newborn", "familial bilateral patella injury"):
        found = list(ways([word for word in words(name.split()) if word.key]))
        keys = [tuple(sorted(word.key for word in way)) for way in found]
        assert 0 < len(found) <= MOST
        assert len(keys) == len(set(keys))


def _bags(names: dict[str, set[str]]) -> Bags:
    return bags(names, language_of("en"), lambda word: word.key)


SITES = ("kalan", "morep", "tepit", "zivox")
AGREE = {f"T:{place}": {f"Brusk {site}", f"Plint gorl {site}"} for place, site in enumerate(SITES)}


def _kept(names: dict[str, set[str]]) -> set[tuple[str, str, str]]:
    known = _bags(names)
    found = counted.kept(counted.count(known, counted.candidates(known)))
    return {(" ".join(one.said), " ".join(one.instead), one.beside) for one in found}


def test_words_in_which_names_of_one_concept_differ_mean_the_same() -> None:
    found = _kept(AGREE)
    assert ("brusk", "gorl plint", "") in found
    assert ("gorl plint", "brusk", "") in found


def test_not_where_they_tell_concepts_apart() -> None:
    against = {f"T:9{place}": {f"Brusk {site} drent"} for place, site in enumerate(SITES)}
    against |= {f"T:8{place}": {f"Plint gorl {site} drent"} for place, site in enumerate(SITES)}
    assert ("brusk", "gorl plint", "") not in _kept(AGREE | against)


def test_not_where_what_a_text_would_have_is_mostly_another_thing() -> None:
    others = {
        f"T:7{place}": {f"Plint gorl ulvan{'abcdefghij'[place % 10]}{'klmnopqrst'[place // 10]}"}
        for place in range(99)
    }
    found = _kept(AGREE | others)
    assert ("brusk", "gorl plint", "") not in found


def test_what_one_word_always_stands_beside_has_to_stand_beside() -> None:
    names = {key: {f"{name} wend" for name in own} for key, own in AGREE.items()}
    assert ("brusk", "gorl plint", "wend") in _kept(names)


def test_numbers_and_everyday_words_mean_nothing_else() -> None:
    names = {f"T:{place}": {f"Brusk {site}", f"ALL {site}"} for place, site in enumerate(SITES)}
    names |= {f"T:9{place}": {f"Plint {site}", f"12 {site}"} for place, site in enumerate(SITES)}
    left_out = counted.ambiguous(names)
    assert "all" in left_out
    assert "brusk" not in left_out
    assert counted.candidates(_bags(names), left_out) == []


def test_the_committed_file_is_one_the_script_writes() -> None:
    text = DATA.read_text("utf-8")
    rows = [
        Paraphrase(tuple(said.split()), tuple(instead.split()), beside)
        for said, instead, beside in tomllib.loads(text)["paraphrases"]
    ]
    assert counted.text_of(rows) == text
    assert len(rows) == len({(one.said, one.instead) for one in rows}) > 1000
