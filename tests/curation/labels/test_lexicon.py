from __future__ import annotations

import random

import pytest

from curation.labels.lexicon import Entry, Lexicon


def found(phrases: dict[str, str], text: str) -> list[tuple[str, tuple[str, ...]]]:
    lexicon = Lexicon(Entry(label, "strong", phrase) for phrase, label in phrases.items())
    return [(hit.text, tuple(entry.label for entry in hit.entries)) for hit in lexicon.find(text)]


def test_the_longest_phrase_at_a_place_wins_and_keeps_its_words() -> None:
    phrases = {"angiogra*": "angiography", "CT angiogra*": "ct", "fluorescein angiogra*": "eye"}
    assert found(phrases, "A CT angiogram, then angiography and Fluorescein angiography.") == [
        ("CT angiogram", ("ct",)),
        ("angiography", ("angiography",)),
        ("Fluorescein angiography", ("eye",)),
    ]


def test_capitals_in_a_phrase_are_matched_as_written() -> None:
    assert found({"CT": "ct"}, "Ct values of a PCR; ct; CT") == [("CT", ("ct",))]
    assert found({"computed tomogra*": "ct"}, "COMPUTED Tomography") == [("COMPUTED Tomography", ("ct",))]


def test_a_star_is_any_ending_and_no_star_is_the_whole_word() -> None:
    assert found({"rena*": "a", "hip": "b"}, "adrenal renal whip hip hippocampus") == [
        ("renal", ("a",)),
        ("hip", ("b",)),
    ]


@pytest.mark.parametrize("written", ["H&E", "H & E", "H& E"])
def test_h_and_e_is_one_word(written: str) -> None:
    assert [label for _, label in found({"H&E": "he"}, f"stain ({written}, ×40)")] == [("he",)]


def test_an_ampersand_joins_letters_only() -> None:
    assert found({"oncol*": "onco"}, "Journal of Hematology & Oncology") == [("Oncology", ("onco",))]


def test_hyphens_and_spaces_are_the_same() -> None:
    assert found({"x ray*": "xray"}, "Chest X-rays and x ray") == [
        ("X-rays", ("xray",)),
        ("x ray", ("xray",)),
    ]


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("A 3-foot film and a 25 foot walk, hand-held and hand-reared", []),
        ("Films of the left foot, 40 feet and hand-foot syndrome", ["foot", "feet", "hand", "foot"]),
    ],
)
def test_a_length_is_no_foot_and_work_by_hand_shows_no_hand(text: str, hits: list[str]) -> None:
    assert [word for word, _ in found({"foot": "limb", "feet": "limb", "hand": "limb"}, text)] == hits


def test_one_phrase_may_speak_for_two_labels() -> None:
    lexicon = Lexicon([Entry("a", "strong", "uveit*"), Entry("b", "weak", "uveit*")])
    assert [entry.label for entry in lexicon.find("Uveitis")[0].entries] == ["a", "b"]


def test_offsets_re_extract_and_the_order_of_entries_does_not_matter() -> None:
    phrases = ["renal", "renal artery", "arter*", "stenosis of the", "stenosis", "of"]
    entries = [Entry(f"l{number}", "strong", phrase) for number, phrase in enumerate(phrases)]
    text = "Stenosis of the left renal artery, and of arteries—renal ones."
    first = Lexicon(entries).find(text)
    for seed in range(5):
        shuffled = entries[:]
        random.Random(seed).shuffle(shuffled)
        assert Lexicon(shuffled).find(text) == first
    assert all(text[hit.start : hit.end] == hit.text for hit in first)
    assert [hit.text for hit in first][:3] == ["Stenosis of the", "renal artery", "of"]


def test_a_phrase_needs_a_word() -> None:
    with pytest.raises(ValueError, match="without words"):
        Lexicon([Entry("a", "strong", "—")])
