"""The index file: same bytes for the same names in any order, whole or not there, damage is told."""

from __future__ import annotations

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.grounding import generate
from curation.concepts import index, native, typos
from curation.concepts.hashes import Sequences, sequence_hash
from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from schemas.errors import WorkspaceError
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptType

NAMES = [
    ConceptName(concept="T:1", name="Low-set ears", is_preferred=True),
    ConceptName(concept="T:2", name="Carcinoma of the breast, left", is_preferred=True),
    ConceptName(concept="T:2", name="Carcinoma of the breast, left", source="OTHER"),
    ConceptName(concept="T:3", name="Sjögren's syndrome"),
    ConceptName(concept="T:4", name="肝硬変", language="ja"),
    ConceptName(concept="T:5", name="Цирроз печени", language="ru"),
    ConceptName(concept="T:6", name="NF2"),
    *generate.names(300),
]
TYPES = [ConceptType(concept=f"T:{number}", semantic_type="T047", group="DISO") for number in range(1, 5)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "names.index"
    build_index(NAMES, path, TYPES, {"release": "1"})
    return path


def test_bytes_do_not_depend_on_order_chunks_or_input(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(NAMES)
    for number, flush in enumerate((1, 37, 1_000_000)):
        random.Random(number).shuffle(names)
        monkeypatch.setattr(index, "_FLUSH", flush)
        build_index(names, tmp_path / "other", reversed(TYPES), {"release": "1"})
        assert (tmp_path / "other").read_bytes() == built.read_bytes()
    pq.write_table(to_table(ConceptName, names), tmp_path / "names.parquet")
    build_index(tmp_path / "names.parquet", tmp_path / "other", TYPES, {"release": "1"})
    assert (tmp_path / "other").read_bytes() == built.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["names.parquet", "other"]


def test_the_header_tells_what_it_was_built_from(built: Path) -> None:
    about = open_index(built).about
    assert about["source"] == {"release": "1"}
    assert about["languages"] == ["en", "ja", "ru"]
    assert about["groups"] == ["", "DISO"]


def test_a_failed_build_leaves_the_old_index(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "names.index"
    path.write_bytes(built.read_bytes())

    def broken() -> object:
        yield NAMES[0]
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        build_index(broken(), path)  # type: ignore[arg-type]
    assert path.read_bytes() == built.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("size", [0, 5, 40, 200, -1])
def test_a_cut_index_is_refused(built: Path, tmp_path: Path, size: int) -> None:
    path = tmp_path / "cut"
    path.write_bytes(built.read_bytes()[:size])
    with pytest.raises(WorkspaceError, match="name index cannot be read") as raised:
        open_index(path)
    assert raised.value.file == str(path)
    assert "vocabulary build" in raised.value.hint


def test_a_missing_or_changed_index_is_refused(built: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        open_index(tmp_path / "none")
    data = bytearray(built.read_bytes())
    data[100] ^= 1  # in the header
    (tmp_path / "changed").write_bytes(data)
    with pytest.raises(WorkspaceError, match="header is damaged"):
        open_index(tmp_path / "changed")


def test_an_index_of_other_rules_is_refused(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "rules", lambda: "other")
    with pytest.raises(WorkspaceError, match="another version of the matcher"):
        open_index(built)


def test_an_index_without_names_finds_nothing(tmp_path: Path) -> None:
    build_index([], tmp_path / "index")
    assert open_index(tmp_path / "index").find("low-set ears") == []


TEXTS = [document.text for document in generate.documents(300, 12)] + ["low-set ears and NF2", "肝硬変"]


def _find(path: Path) -> list[list[tuple[int, int, str]]]:
    opened = open_index(path)
    return [[(m.start, m.end, m.concept) for m in opened.find(text, overlaps=True)] for text in TEXTS]


def test_processes_and_threads_read_one_file_alike(built: Path) -> None:
    expected = _find(built)
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(_find, [built] * 3)) == [expected] * 3
    with get_context("spawn").Pool(2) as processes:
        assert processes.map(_find, [built] * 2) == [expected] * 2


def test_threads_may_share_a_matcher(built: Path) -> None:
    opened = open_index(built)
    expected = [opened.find(text) for text in TEXTS]
    shared = open_index(built)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(shared.find, TEXTS * 5)) == expected * 5


def test_what_was_read_before_does_not_change_what_is_found(built: Path) -> None:
    opened = open_index(built)
    forward = {text: opened.find(text) for text in TEXTS}
    other = open_index(built)
    assert {text: other.find(text) for text in reversed(TEXTS)} == forward


@pytest.fixture(scope="module")
def matcher(built: Path) -> NativeMatcher:
    return open_index(built)


WORDS = [word for name in NAMES for word in name.name.split()] + [
    "of",
    "and",
    ",",
    "-",
    "(",
    "癌",
    "\u0301",
    "II",
]
ANY_TEXT = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=3)), max_size=25).map("".join),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=ANY_TEXT, language=st.sampled_from(["en", "ja", "ru", "xx", ""]), overlaps=st.booleans())
def test_any_text_gives_sorted_spans_within_it(
    matcher: NativeMatcher, text: str, language: str, overlaps: bool
) -> None:
    matches = matcher.find(text, language, overlaps=overlaps)
    spans = [(match.start, match.end) for match in matches]
    assert spans == sorted(set(spans), key=lambda span: (span[0], -span[1]))
    for match in matches:
        words = text[match.start : match.end]
        assert words and words == words.strip()
        assert 0 < match.score <= 1
    if not overlaps:
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert matcher.find(text, language, overlaps=overlaps) == matches
    assert next(matcher.find_many(["ear " * 3, text], language)) == matcher.find("ear ear ear ", language)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(st.text(max_size=30), st.sampled_from(["en", "ja", "de"])), max_size=12))
def test_any_names_can_be_indexed_and_found_in_themselves(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "index"
    names = [
        ConceptName(concept=f"T:{place}", name=name, language=code) for place, (name, code) in enumerate(rows)
    ]
    build_index(names, path)
    opened = open_index(path)
    for name, language in rows:
        for match in opened.find(name, language):
            assert 0 <= match.start < match.end <= len(name)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30), st.data())
def test_hashes_of_stretches_are_those_of_the_words_alone(words: list[int], data: st.DataObject) -> None:
    last = data.draw(st.integers(0, len(words) - 1))
    first = data.draw(st.integers(0, last))
    middle = data.draw(st.integers(first, last))
    sequences = Sequences(np.array(words, dtype=np.uint64), np.zeros(len(words), dtype=np.bool_))
    low, high = np.array([first]), np.array([last])
    assert sequences.of(low, high).tolist() == [sequence_hash(words[first : last + 1])]
    if middle < last:
        turned = words[middle + 1 : last + 1] + words[first : middle + 1]
        assert sequences.rotated(low, np.array([middle]), high).tolist() == [sequence_hash(turned)]


@given(st.text("abcdeé", min_size=5, max_size=12), st.data())
def test_words_one_deletion_apart_share_a_hash(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    shorter = word[:place] + word[place + 1 :]
    both = typos.deletes([word, shorter], np.zeros(2, dtype=np.uint64))
    assert set(both[0].tolist()) & set(both[1].tolist())
