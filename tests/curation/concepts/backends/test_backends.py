"""QuickUMLS and scispaCy really run: names in several languages, one kind of record, hostile text."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import importlib
import itertools
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from curation.concepts.matcher import Match, Matcher
from schemas.errors import UsageError, WorkspaceError

from .conftest import BACKENDS, Backend, named, write

TEXT = (
    "The patient had epileptic seizures, diabetes mellitus and a Myocardial Infarction; "
    "she reported back pain, and abdominal pain with heart failure."
)


def read(
    matcher: Matcher, text: str, language: str = "en", *, overlaps: bool = False
) -> list[tuple[str, str]]:
    """(words, concept) of what was found, after checking what holds of every match."""
    found = matcher.find(text, language, overlaps=overlaps)
    assert found == sorted(found, key=lambda match: (match.start, -match.end, match.concept))
    assert len({(match.start, match.end) for match in found}) == len(found)
    for match in found:
        assert 0 <= match.start < match.end <= len(text)
        assert 0 < match.score <= 1
        assert type(match.score) is float and type(match.start) is int
    if not overlaps:
        assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    return [(text[match.start : match.end], match.concept) for match in found]


def test_names_are_found_with_our_ids_and_offsets(matcher: Matcher) -> None:
    assert read(matcher, TEXT) == [
        ("epileptic seizures", "HP:0001250"),
        ("diabetes mellitus", "UMLS:C0011849"),
        ("Myocardial Infarction", "UMLS:C0027051"),
        ("back pain", "HP:0003418"),
        ("abdominal pain", "HP:0002027"),
        ("heart failure", "MESH:D006333"),
    ]


def test_a_match_names_the_vocabulary_name_and_how_it_was_found(matcher: Matcher) -> None:
    found = {match.name: match for match in matcher.find(TEXT)}
    assert found["Myocardial infarction"].rule == "exact"
    assert found["Myocardial infarction"].score == 1.0
    assert found["Epileptic seizure"].rule == "form"
    assert found["Epileptic seizure"].score < 1.0


def test_nested_names_only_when_asked_for(matcher: Matcher) -> None:
    assert ("pain", "HP:0012531") not in read(matcher, TEXT)
    assert ("pain", "HP:0012531") in read(matcher, TEXT, overlaps=True)
    assert ("abdominal pain", "HP:0002027") in read(matcher, TEXT, overlaps=True)


@pytest.mark.parametrize(
    ("language", "text", "words", "concept"),
    [
        ("de", "Patient mit Herzinsuffizienz und Ödemen.", "Herzinsuffizienz", "MESH:D006333"),
        ("fr", "Une épilepsie généralisée à 3 ans.", "épilepsie généralisée", "HP:0001250"),
        ("fr-CA", "Une insuffisance cardiaque.", "insuffisance cardiaque", "MESH:D006333"),
        ("ru", "Диагноз: сердечная недостаточность.", "сердечная недостаточность", "MESH:D006333"),
        ("zh", "患者有心力衰竭病史。", "心力衰竭", "MESH:D006333"),
        ("zh-Hans", "反复癫痫发作两年。", "癫痫发作", "HP:0001250"),
        ("ja", "患者は心不全と診断された。", "心不全", "MESH:D006333"),
        ("ja", "てんかん発作を繰り返した。", "てんかん発作", "HP:0001250"),
        ("sv", "The note says heart failure.", "heart failure", "MESH:D006333"),
    ],
)
def test_languages(matcher: Matcher, language: str, text: str, words: str, concept: str) -> None:
    assert (words, concept) in read(matcher, text, language)


def test_accents_do_not_shift_offsets(matcher: Matcher) -> None:
    assert read(matcher, "Epilepsie generalisée, ﬁn", "fr") == [("Epilepsie generalisée", "HP:0001250")]
    decomposed = "Une e\u0301pilepsie ge\u0301ne\u0301ralise\u0301e"
    assert [match.concept for match in matcher.find(decomposed, "fr")] in ([], ["HP:0001250"])


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "\0", "\ud800", ".", "的", "\u202e", "🫀" * 50, "((((" * 40]
)
def test_texts_without_names(matcher: Matcher, text: str) -> None:
    for language in ("en", "zh", "ru", "xx", ""):
        assert read(matcher, text, language) == []


def test_hostile_characters_around_names(matcher: Matcher) -> None:
    text = "\0 seizure \ud800 heart failure\u202e (\u0000diabetes mellitus) 🫀 back pain\x7f \u05d0 seizure"
    assert read(matcher, text) == [
        ("seizure", "HP:0001250"),
        ("heart failure", "MESH:D006333"),
        ("diabetes mellitus", "UMLS:C0011849"),
        ("back pain", "HP:0003418"),
        ("seizure", "HP:0001250"),
    ]


def test_a_megabyte(matcher: Matcher) -> None:
    """One endless word, names close together, brackets, and words that end nowhere, 250 kB of each."""
    parts = [part * (250_000 // len(part)) for part in ("a", "seizure ", "(a) ", "α-")]
    found = read(matcher, " ".join(parts) + " and heart failure")
    assert found[-1] == ("heart failure", "MESH:D006333")
    assert set(found[:-1]) == {("seizure", "HP:0001250")}
    assert len(found) > 25_000


def test_long_texts_are_read_as_short_ones(matcher: Matcher) -> None:
    text = "\n".join([TEXT] * 200)
    assert read(matcher, text) == read(matcher, TEXT) * 200


def test_any_name_is_found_in_itself(backend: Backend, tmp_path: Path) -> None:
    rng = random.Random(4)
    letters = "abcdefgéüßçñİıæøŁðžαβγ№½Ⅲ"
    rows = []
    for number in range(150):
        words = ["".join(rng.choices(letters, k=rng.randint(4, 9))) + str(number) for _ in range(2)]
        rows.append(named(f"T:{number}", " ".join(words)))
    rows += [named("T:bar", "left|right quarrel"), named("T:break", "broken\u2028 line\n quarrel")]
    backend.prepare(write(tmp_path, rows), None, tmp_path / "index")
    matcher = backend.open(tmp_path / "index")
    missed = [
        row.name for row in rows[:150] if row.concept not in {m.concept for m in matcher.find(row.name)}
    ]
    assert len(missed) <= 2
    assert [match.name for match in matcher.find("a left right quarrel")] in (["left|right quarrel"], [])
    assert [match.name for match in matcher.find("broken line quarrel")] == ["broken\u2028 line\n quarrel"]


def test_names_that_say_nothing_of_their_own_are_left_out(backend: Backend, tmp_path: Path) -> None:
    kept = named("T:1", "Granular myringitis")
    hidden = dataclasses.replace(named("T:2", "Obsolete tuberculoma"), is_suppressed=True)
    broad = dataclasses.replace(named("T:3", "Visual trouble"), term_type="BROAD")
    rows = [kept, hidden, broad, named("T:4", "--"), named("T:5", "??", "sw")]
    backend.prepare(write(tmp_path, rows), None, tmp_path / "index")
    matcher = backend.open(tmp_path / "index")
    text = "granular myringitis, obsolete tuberculoma, visual trouble --"
    assert read(matcher, text) == [("granular myringitis", "T:1")]
    assert matcher.find("??", "sw") == []


def test_an_ambiguous_span_has_one_reading(backend: Backend, tmp_path: Path) -> None:
    rows = [
        named("T:9", "Cold", synonym=True),
        named("T:5", "Cold", synonym=True),
        named("T:5", "Hypothermia"),
        named("T:7", "Cold"),
        named("T:7", "Common cold", synonym=True),
    ]
    backend.prepare(write(tmp_path, rows), None, tmp_path / "index")
    assert read(backend.open(tmp_path / "index"), "cold", overlaps=True) == [("cold", "T:7")]


def test_an_index_is_replaced_whole(backend: Backend, tmp_path: Path) -> None:
    for name in ("Granular myringitis", "Otosclerosis"):
        backend.prepare(write(tmp_path, [named("T:1", name)]), None, tmp_path / "index")
    assert [match.name for match in backend.open(tmp_path / "index").find("otosclerosis")] == ["Otosclerosis"]
    assert not list(tmp_path.glob("*.tmp"))
    assert not list((tmp_path / "index").rglob("*.RRF"))


def test_no_index_or_another_ones(backend: Backend, tmp_path: Path, index: Path) -> None:
    with pytest.raises(WorkspaceError, match=f"no {backend.name} index"):
        backend.open(tmp_path)
    other = next(item for item in BACKENDS.values() if item is not backend)
    with pytest.raises(WorkspaceError, match=f"it is one of {backend.name}"):
        other.open(index)


def test_without_the_extra(
    backend: Backend, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = importlib.import_module

    def refuse(name: str, package: str | None = None) -> ModuleType:
        if name.split(".")[0] in ("quickumls", "scispacy"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return imported(name, package)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(UsageError) as raised:
        backend.open(index)
    assert raised.value.hint == f"make setup EXTRAS={backend.name}"
    with pytest.raises(UsageError):
        backend.prepare(write(tmp_path, [named("T:1", "Seizure")]), None, tmp_path / "index")


def test_importing_the_backends_imports_no_extra() -> None:
    code = (
        "import sys, curation.concepts.backends.quickumls, curation.concepts.backends.scispacy\n"
        "print(sorted({'quickumls', 'scispacy', 'nltk', 'spacy', 'sklearn', 'nmslib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_reaches_for_the_network(
    backend: Backend, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(event: str, arguments: object) -> None:
        if _watching and event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen"):
            raise AssertionError(f"{event} {arguments}")

    sys.addaudithook(refuse)
    _watching.append(True)
    try:
        assert backend.open(index).find("heart failure")[0] == Match(0, 13, "MESH:D006333", "Heart failure")
    finally:
        _watching.clear()


_watching: list[bool] = []


def test_threads_may_share_a_matcher(matcher: Matcher) -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: read(matcher, TEXT), range(8))) == [read(matcher, TEXT)] * 8
