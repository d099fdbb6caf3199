"""Meanings of words learned from translated names, and what is found by them, on invented names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks import glosses as benchmark
from curation.concepts.cognates import LANGUAGES
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptType

PARTS = (("nariz", "nose"), ("oreja", "ear"), ("mano", "hand"), ("lengua", "tongue"), ("rodilla", "knee"))
QUALITIES = (("corta", "short"), ("ancha", "broad"), ("grande", "large"), ("ausente", "absent"))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = []
    for place, (part, english) in enumerate(PARTS):
        for number, (quality, said) in enumerate(QUALITIES):
            for name, language, source in (
                (f"{said} {english}", "en", "HPO"),
                (f"{part} {quality}", "es", "HPO_ES"),
            ):
                concept = f"HP:{place}{number}"
                rows.append(
                    ConceptName(
                        concept=concept, name=name, language=language, source=source, is_preferred=True
                    )
                )
    path = tmp_path_factory.mktemp("names") / "names.parquet"
    pq.write_table(to_table(ConceptName, rows), path)
    return path


def test_words_are_aligned_over_many_names(names: Path) -> None:
    known = benchmark.names_of(names)
    means = benchmark.aligned(list(benchmark.pairs_of(known, "es")))
    likeliest = {word: max(some, key=some.__getitem__) for word, some in means.items()}
    assert {word: likeliest[word] for word in ("nariz", "corta", "rodilla")} == {
        "nariz": "nose",
        "corta": "short",
        "rodilla": "knee",
    }


def test_what_is_learned_is_written_for_every_language_and_repeats(names: Path) -> None:
    known = benchmark.names_of(names)
    text = benchmark.learned(known, names, {})
    assert text == benchmark.learned(known, names, {})
    assert all(f"{language} = '''" in text for language in LANGUAGES)
    assert "\nnariz nose\n" in text and "\nausente absent\n" in text


def test_compounds_are_parted_where_their_parts_stand_in_most_words() -> None:
    words = {"lungenembolie", "lungenkrebs", "embolie", "krebs", "hautkrebs", "hautarzt", "arzt"}
    assert benchmark.compounds(words) == {
        "lungenembolie": ("lungen", "embolie"),
        "lungenkrebs": ("lungen", "krebs"),
        "hautkrebs": ("haut", "krebs"),
        "hautarzt": ("haut", "arzt"),
    }


def test_sentences_doubt_a_meaning_that_they_seldom_say(names: Path) -> None:
    known = benchmark.names_of(names)
    sentences = [(("mano", "ayuda"), ("help",)), (("mano",), ("help",)), (("ayuda",), ("support",))] * 3
    sentences += [(("nariz",), ("nose",))] * 9
    text = benchmark.learned(known, names, {"es": sentences})
    assert "\nnariz nose\n" in text and "\nmano hand?\n" in text


def test_sentences_teach_what_cognates_do_not_mean(names: Path) -> None:
    known = benchmark.names_of(names)
    sentences = [(("eare",), ("short",))] * 5 + [(("broade",), ("nothing",))] * 5
    text = benchmark.learned(known, names, {"es": sentences})
    assert "\neare short\n" in text or "\neare" not in text
    assert "\nbroade !\n" in text


def test_sentences_of_two_languages_are_read(tmp_path: Path) -> None:
    (tmp_path / "all.en-es-419.tmx").write_text(
        "<tmx><body><tu><tuv><seg>The nose is short</seg></tuv><tuv><seg>La nariz es corta</seg></tuv></tu>"
        "</body></tmx>",
        encoding="utf-8",
    )
    (tmp_path / "all.en-ru.tmx").write_text("<tmx/>", encoding="utf-8")
    (words, forms), *others = benchmark.sentences_of(tmp_path)["es"]
    assert not others and {"nariz", "corta"} <= {*words} and {"nose", "short"} <= {*forms}


def test_the_last_fifth_teaches_nothing(names: Path) -> None:
    known = benchmark.names_of(names)
    taught = {words for words, _ in benchmark.pairs_of(known, "es")}
    held = {
        tuple(name.split())
        for concept, those in known["es"].items()
        if not benchmark.is_learned_from(concept)
        for name in those
    }
    assert held and taught and held.isdisjoint(taught)


def test_found_and_right_are_counted_of_the_last_fifth(names: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables: Mapping[str, tuple[str, ...]] = {word: (said,) for word, said in (*PARTS, *QUALITIES)}
    monkeypatch.setattr("curation.concepts.glosses.meanings", lambda language: tables)
    found = benchmark.measured(
        benchmark.names_of(names), names, [ConceptType(concept="HP:00", semantic_type="T047", group="DISO")]
    )
    held = sum(not benchmark.is_learned_from(f"HP:{a}{b}") for a in range(5) for b in range(4))
    assert found["es"]["names"] == found["es"]["found"] == found["es"]["right"] == held
    monkeypatch.setattr("curation.concepts.glosses.meanings", lambda language: {})
    nothing = benchmark.measured(benchmark.names_of(names), names, [])
    assert nothing["es"]["found"] == 0


def test_the_page_has_a_line_for_each_language() -> None:
    lines = [line for line in benchmark.section() if line.startswith("| ") and "language" not in line]
    assert [line[2:4] for line in lines] == sorted(LANGUAGES)
