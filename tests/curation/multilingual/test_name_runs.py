"""Names of diseases are told apart by the runs of letters that they are written with."""

from __future__ import annotations

import itertools
import tomllib

import pytest

from benchmarks import name_weights
from benchmarks.translation_pairs import Pair
from curation.multilingual.checks import Translation, check
from curation.multilingual.name_runs import name_runs, runs_of
from curation.multilingual.scores import Fault

SPACED, UNSPACED = ("de", "es", "fr", "it", "pt"), ("ja", "zh")
NAMES = {
    "kidney failure": ("Nierenversagen", "insuficiencia renal", "insuffisance rénale", "insufficienza renale",
                       "insuficiência renal", "腎不全", "肾衰竭"),
    "shortness of breath": ("Kurzatmigkeit", "dificultad para respirar", "essoufflement", "respiro corto",
                            "falta de ar", "呼吸困難", "呼吸困难"),
    "fracture of the femur": ("Oberschenkelbruch", "fractura de fémur", "fracture du fémur",
                              "frattura del femore", "fratura do fêmur", "大腿骨骨折", "股骨骨折"),
    "inflammation of the eye": ("Augenentzündung", "inflamación del ojo", "inflammation de l'œil",
                                "infiammazione dell'occhio", "inflamação do olho", "眼炎症", "眼部发炎"),
    "hearing loss": ("Schwerhörigkeit", "pérdida de audición", "perte auditive", "perdita dell'udito",
                     "perda auditiva", "難聴", "听力损失"),
    "high blood pressure": ("Bluthochdruck", "presión arterial alta", "tension artérielle élevée",
                            "pressione sanguigna alta", "pressão arterial alta", "高血圧", "高血压"),
}  # fmt: skip


def is_other(source: str, text: str, language: str) -> bool:
    found = check(Translation(source, text, language)).faults
    return bool({Fault.WRONG_LANGUAGE, Fault.WRONG_SCRIPT} & set(found))


def test_a_name_is_in_its_language_and_seldom_passes_for_one_in_another() -> None:
    languages = (*SPACED, *UNSPACED)
    named = [(source, dict(zip(languages, names, strict=True))) for source, names in NAMES.items()]
    wrong = [
        (language, text) for source, names in named for language, text in names.items()
        if is_other(source, text, language)
    ]  # fmt: skip
    assert wrong == []
    swapped = [
        is_other(source, names[other], language)
        for source, names in named
        for group in (SPACED, UNSPACED)
        for language, other in itertools.permutations(group, 2)
    ]
    assert sum(swapped) >= 0.95 * len(swapped)


def test_runs_are_of_words_with_their_ends_and_of_signs() -> None:
    assert runs_of("Gut 2!", SPACED) == {"^g", "gu", "ut", "t$", "^gu", "gut", "ut$", "^gut", "gut$"}
    assert runs_of("CT で 肺炎", UNSPACED) == {"で", "肺", "炎", "肺炎"}


def test_nothing_is_said_of_a_name_without_a_known_run_or_in_a_language_without_names() -> None:
    assert name_runs("ru") is None and name_runs("en") is None
    runs = name_runs("de")
    assert runs is not None and runs.odds("肺炎", "de") is None
    assert not is_other("pneumonia", "肺", "zh")


@pytest.mark.parametrize("language", [*SPACED, *UNSPACED])
def test_no_bound_rejects_what_is_likelier_than_not(language: str) -> None:
    runs = name_runs(language)
    assert runs is not None and runs.least[language] <= 0
    assert all(len(weights) == len(runs.languages) for weights in runs.weights.values())


def test_weights_are_fitted_to_names_alone_and_read_back() -> None:
    """Invented words: one language ends them in -ung, the other in -zia."""
    words = [f"{first}{second}" for first in ("bar", "tol", "mek", "sif", "gan") for second in "aeiou"]
    known = [
        Pair("name", language, word, word + ending, str(place))
        for place, word in enumerate(words)
        for language, ending in (("de", "lung"), ("it", "lzia"))
    ]
    known.append(Pair("sentence", "de", "x", "zia " * 50, "s"))
    german, other = tomllib.loads(name_weights.fitted(known))["group"]
    assert german["least"].keys() == {"de", "it"} and other["runs"] == ""
    weights = dict(line.split(" ", 1) for line in german["runs"].splitlines())
    place = {language: german["languages"].index(language) for language in ("de", "it")}
    ung, zia = ([int(value) for value in weights[run].split()] for run in ("ung$", "zia$"))
    assert ung[place["de"]] > ung[place["it"]] and zia[place["it"]] > zia[place["de"]]
