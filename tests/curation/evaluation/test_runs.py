"""Run files: equal bytes, scores every tool orders alike, errors name the line, repairs are told."""

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.evaluation.ranking import EMPTY, Ranking, best, fuse, keys_of, ranking_of, without
from curation.evaluation.runs import falling, file_stem, read_run, write_run
from schemas.errors import ReleaseError

IDS = ("d1", "d2", "d3", "d4")
RUN = {
    "q1": Ranking(np.array([2, 0, 1], np.int32), np.array([1.5, 0.25, 0.25])),
    "q2": Ranking(np.array([3], np.int32), np.array([-3.0])),
}


def test_round_trip_and_equal_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.trec.gz", tmp_path / "b.trec.gz"
    for path in (first, second):
        write_run(RUN, ["q1", "q2", "q3"], IDS, "my system", path)
    assert first.read_bytes() == second.read_bytes()
    found = read_run(first, ["q1", "q2", "q3"], IDS)
    assert {query: ranking.documents.tolist() for query, ranking in found.run.items()} == {
        "q1": [2, 0, 1],
        "q2": [3],
    }
    assert found.name == "a" and found.tag == "my-system"
    assert found.notes == ("1 of 3 queries are not in the run; they count as nothing found",)


@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=50))
def test_written_scores_strictly_fall_and_are_never_raised(scores: list[float]) -> None:
    ordered = sorted(scores, reverse=True)
    made = list(falling(ordered))
    assert all(a > b for a, b in itertools.pairwise(made))
    assert all(new <= np.float32(old) for new, old in zip(made, ordered, strict=True))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "their.run.trec"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q9 Q0 d1 1 1.0 t", "'q9' is not in this split"),
        ("q1 Q0 d9 1 1.0 t", "'d9' is not in the corpus"),
        ("q1 Q0 d1 1 1.0 t\nq1 Q0 d1 2 0.5 t", "'d1' twice"),
        ("q1 Q0 d1 1 1.0", "5 columns"),
        ("q1 Q0 d1 1 high t", "no number"),
        ("q1 Q0 d1 1 nan t", "score is nan"),
        ("q1 Q0 d1 nan 1.0 t", "rank is nan"),
        ("q1 Q0 d1 1 1_0 t", "no number"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, "q1 Q0 d2 1 9.0 t\n\n" + line + "\n")
    with pytest.raises(ReleaseError, match=message) as raised:
        read_run(path, ["q1"], IDS)
    assert raised.value.record == f"line {2 + len(line.splitlines())}"
    assert raised.value.file == str(path)


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.trec.gz"
    path.write_bytes(gzip.compress(b"q1 Q0 d1 1 1.0 t\n")[:-9])
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_run(path, ["q1"], IDS)


def test_wrong_order_and_ties_are_repaired_and_told(tmp_path: Path) -> None:
    path = write(tmp_path, "q1 Q0 d1 1 0.5 t\nq1 Q0 d3 2 0.9 t\nq2 Q0 d4 1 1 t\nq2 Q0 d2 2 1 t\n")
    found = read_run(path, ["q1", "q2"], IDS)
    assert found.run["q1"].documents.tolist() == [2, 0]
    assert found.run["q2"].documents.tolist() == [1, 3]
    assert [note.split()[0] for note in found.notes] == ["1", "1"]
    assert "order of score" in found.notes[0] and "document id" in found.notes[1]


def test_what_states_no_other_order_is_not_called_out_of_order(tmp_path: Path) -> None:
    path = write(tmp_path, "q1 Q0 d3 0 2 t\nq1 Q0 d1 0 1 t\nq2 Q0 d4 1 1 t\nq2 Q0 d2 2 1 t\n")
    found = read_run(path, ["q1", "q2"], IDS)
    assert found.run["q1"].documents.tolist() == [2, 0]
    assert found.notes == ("1 queries have equal scores; those are in order of document id",)


def test_pairs_to_leave_out_make_room_for_the_next() -> None:
    left = without(RUN["q1"], np.array([0], np.int32), 2)
    assert left.documents.tolist() == [2, 1]
    assert without(RUN["q1"], None, 1).documents.tolist() == [2]


def test_fusion_by_hand() -> None:
    first = {"q": Ranking(np.array([0, 1, 2], np.int32), np.array([3.0, 2.0, 1.0]))}
    second = {"q": Ranking(np.array([2, 3], np.int32), np.array([9.0, 8.0]))}
    fused = fuse([first, second], ["q", "r"], 3)
    assert fused["q"].documents.tolist() == [2, 0, 1]  # 1/63 + 1/61, 1/61, 1/62 (ties d1 and d3: by id)
    assert fused["q"].scores == pytest.approx([1 / 63 + 1 / 61, 1 / 61, 1 / 62], abs=1e-9)
    assert len(fused["r"]) == len(EMPTY) == 0


def test_keys_sort_by_score_then_position_and_refuse_what_does_not_fit() -> None:
    keys = keys_of(np.array([-5, 7, 7, 0]), np.array([0, 9, 3, 1]))
    found = ranking_of(best(keys, 10), 0.5)
    assert found.documents.tolist() == [3, 9, 1, 0]
    assert found.scores.tolist() == [3.5, 3.5, 0.0, -2.5]
    with pytest.raises(ValueError, match="out of range"):
        keys_of(np.array([1 << 32]), np.array([0]))


def test_names_of_files_are_safe() -> None:
    assert file_stem("st:org/model name") == "st-org-model-name"
    assert file_stem("../x") == "..-x"
