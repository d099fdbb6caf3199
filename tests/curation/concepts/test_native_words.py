"""Forms of words: what becomes equal and what stays apart; gaps; how names and gold are scored."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.grounding import generate, gold
from curation.concepts.english import fold_english
from curation.concepts.matcher import Match
from curation.concepts.names import CASED, analyse
from curation.concepts.native import NativeMatcher
from curation.concepts.normalise import base_language, fold, language_of
from curation.concepts.scripts import COMMA, HARD, HYPHEN, SLASH, SOFT, SPACE, gap_class, split


@pytest.mark.parametrize(
    "words",
    [
        "tumour tumours tumor tumors",
        "nevus nevi naevus naevi",
        "vertebra vertebrae vertebras",
        "septum septa",
        "metastasis metastases",
        "diagnosis diagnoses",
        "arthritis arthritides arthritises",
        "disease diseases",
        "anaemia anemia anaemias",
        "oedema edema oedemas",
        "haemorrhage hemorrhage haemorrhages",
        "foetus fetus foetuses",
        "fibre fiber fibres",
        "carcinoma carcinomas carcinomata",
        "biopsy biopsies",
        "foot feet",
        "tooth teeth",
        "generalised generalized",
        "leucocyte leukocyte leucocytes",
        "diarrhoea diarrhea",
    ],
)
def test_spellings_and_numbers_of_a_word_are_one(words: str) -> None:
    assert len({fold_english(word) for word in words.split()}) == 1


def test_different_words_stay_apart() -> None:
    words = (
        "clone clonus spina spin spinning hepatitis hepatic dose dosis colon cola lens lesion nose node toe"
    )
    assert not [
        pair for pair in combinations(words.split(), 2) if fold_english(pair[0]) == fold_english(pair[1])
    ]


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=20))
def test_folding_any_word_ends_and_keeps_something(word: str) -> None:
    assert bool(fold_english(word)) == bool(word)


def test_parts_of_speech_of_one_family_share_a_key_and_small_words_have_none() -> None:
    english = language_of("en-GB")
    for words in (
        "renal kidney kidneys",
        "hypoplastic hypoplasia",
        "elevated increased high raised",
        "dilated dilation",
    ):
        assert len({english.key_form(word) for word in words.split()}) == 1, words
    assert {english.key_form(word) for word in ("of", "The", "with")} == {""}
    assert english.key_form("A") == "a"
    assert language_of("de").key_form("der") == language_of("fr").key_form("de") == ""
    assert base_language("pt_BR") == "pt"


def test_case_accents_width_and_greek_letters_are_folded() -> None:
    assert [fold(word) for word in ("Sjögren’s", "Œdème", "β", "ＡＢＣ", "ガ", "STRASSE", "straße")] == [
        "sjogren", "oedeme", "beta", "abc", "ガ", "strasse", "strasse",
    ]  # fmt: skip


@given(st.text(max_size=60))
def test_gaps_and_words_in_turn_are_the_text(text: str) -> None:
    parts = split(text)
    assert len(parts) % 2 == 1
    assert "".join(parts) == text
    assert all(parts[1::2])
    assert all(SPACE <= gap_class(gap) <= HARD for gap in parts[0::2])


def test_gaps_are_told_apart() -> None:
    gaps = {
        " ": SPACE,
        "\n": SPACE,
        "-": HYPHEN,
        " - ": SOFT,
        ", ": COMMA,
        "、": COMMA,
        "/": SLASH,
        " (": SOFT,
    }
    gaps |= {". ": HARD, "; ": HARD, "。": HARD, "\n\n": HARD, ".": HARD, ") ": SOFT, " = ": HARD}
    assert {gap: gap_class(gap) for gap in gaps} == gaps


def test_names_that_say_too_little_are_not_indexed() -> None:
    english = language_of("en")
    for name in ("", "12", "+", "at", "of the", "ill", "Patients", "b", "(His)6", "x" * 3 + " y" * 20):
        assert analyse(name, english) is None, name
    for name in ("ALL", "NF2", "AF"):
        found = analyse(name, english)
        assert found is not None and found.flags & CASED, name
    for name in ("Rib", "Flu", "Fever", "T-cell lymphoma"):
        found = analyse(name, english)
        assert found is not None and not found.flags & CASED, name


GOLD = (
    "d1\r\nRenal cyst and cyst.\r\n0\t10\tRenal cyst\tT:1\r\n15\t19\tcyst\tT:2|T:3\r\n\r\nd2\r\nNothing.\r\n"
)


def test_gold_is_read_and_scored_by_span_overlap_and_document(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_bytes(GOLD.encode())
    documents = gold.read(tmp_path / "gold.tsv")
    assert [document.id for document in documents] == ["d1", "d2"]
    assert sorted(gold.concepts(documents)) == ["T:1", "T:2", "T:3"]
    found = {"d1": [Match(0, 5, "T:1", ""), Match(15, 19, "T:3", ""), Match(6, 10, "T:9", "")]}
    scores = gold.score(documents, found)
    assert scores["span"].row() == {"p": 0.333, "r": 0.5, "f1": 0.4}
    assert scores["overlap"].row() == {"p": 0.667, "r": 1.0, "f1": 0.8}
    assert scores["document"].row() == {"p": 0.667, "r": 1.0, "f1": 0.8}
    (tmp_path / "bad.tsv").write_text(GOLD.replace("\r", "").replace("0\t10", "1\t10"), "utf-8")
    with pytest.raises(ValueError, match="d1: 1-10"):
        gold.read(tmp_path / "bad.tsv")


def test_generated_names_are_distinct_and_planted_mentions_are_theirs() -> None:
    names = list(generate.names(5_000))
    assert names == [generate.name(number) for number in range(5_000)]
    assert len({name.name.casefold() for name in names}) == 5_000
    concepts = {name.concept for name in names}
    documents = generate.documents(5_000, 20)
    assert documents == generate.documents(5_000, 20)
    by_name = {name.name: name.concept for name in names}
    for document in documents:
        assert sorted(item.kind for item in document.planted) == sorted(generate.KINDS * 2)
        for item in document.planted:
            assert item.concept in concepts
            if item.kind == "exact":
                assert by_name[document.text[item.start : item.end]] == item.concept
    perfect = {
        document.id: [Match(item.start, item.end, item.concept, "") for item in document.planted]
        for document in documents
    }
    scored = generate.score(documents, perfect)
    assert scored["all"] == scored["precision"] == 1.0
    assert generate.score(documents, {})["all"] == 0.0


@pytest.mark.parametrize("behind", ["in childhood", "with fever", "."])
def test_a_name_turned_round_may_be_followed_by_a_small_word(
    matcher: Callable[..., NativeMatcher], behind: str
) -> None:
    found = matcher("1=Recurrent bronchitis", "2=Bronchitis").find(f"bronchitis, recurrent {behind}")
    assert [(item.concept, item.rule) for item in found] == [("T:1", "order")]


def test_one_that_is_joined_to_something_is_a_list(matcher: Callable[..., NativeMatcher]) -> None:
    found = matcher("1=Muscle weakness", "2=Weakness").find("weakness, muscle and joint pain")
    assert [item.concept for item in found] == ["T:2"]
