"""Systems that search with what a model wrote or are re-ranked by one: checked, stored, flagged, not run."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.evaluation.collection import open_collection
from curation.evaluation.gain import gain
from curation.evaluation.ranking import Ranking
from flows.cli.evaluate import evaluate_app
from flows.evaluate import retrieval
from flows.release.baselines import derive
from schemas.errors import UsageError
from schemas.spec import Baselines
from schemas.tables import EXPANSIONS
from tests.curation.evaluation.world import Release, toy
from tests.flows.review.openai_server import KEY, OpenAIServer, outside_and_blocks

HASH = "ab" * 32
TEXTS = {"q1": "Pneumonia of the lower lobe with IL-6 elevation.", "q2": "Fundus: retinal haemorrhage."}


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(folder: Path, *arguments: str) -> Any:
        given = [str(folder), *arguments, "--json", "--workspace", str(tmp_path / "workspace")]
        out = ["--out", str(tmp_path / "out")]
        code = evaluate_app([*given, *out], exit_on_error=False, result_action="return_value")
        assert code == 0
        return {system["name"]: system for system in json.loads(capsys.readouterr().out)[0]["systems"]}

    return call


def release(*models: tuple[str, str]) -> Release:
    """The toy release, q1 sharing no word with its positive; (kind of prompt, model) of its stages."""
    made = toy()
    made.queries[0]["text"] = "why does he cough"
    made.head["task"] = "visual_context"
    made.head["stages"] = [
        {"name": f"x_{kind}_answers", "version": 1, "params": {"prompt": f"{kind}@1", "model": model}}
        for kind, model in models
    ]
    return made


def written(path: Path, texts: dict[str, str], kind: str = "hyde@1", **changes: Any) -> Path:
    rows = [
        {"query-id": query, "kind": kind, "text": text, "model": "qwen-x", "served_model": "",
         "prompt_sha256": HASH, **changes}
        for query, text in texts.items()
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def ranked(tmp_path: Path, system: dict[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with gzip.open(tmp_path / "out" / system["run_file"], "rt") as file:
        for line in file:
            found.setdefault(line.split()[0], []).append(line.split()[2])
    return found


@pytest.mark.parametrize("kind", ["hyde", "query2doc"])
def test_texts_are_searched_with_and_what_they_gain_is_told(
    tmp_path: Path, run: Callable[..., Any], kind: str
) -> None:
    folder = release().write(tmp_path)
    path = written(tmp_path / "secret" / "texts.parquet", {**TEXTS, "q5": "of the other split"}, f"{kind}@1")
    found = run(folder, "--system=bm25", f"--system=bm25+{kind}:{path}")
    before, system = found["bm25"], found[f"bm25+{kind}:texts.parquet"]
    plain, searched = ranked(tmp_path, before), ranked(tmp_path, system)
    assert "q1" not in plain and searched["q1"][:2] == ["d1", "d2"]
    assert "d5" not in searched["q1"] and "d6" not in searched["q2"]  # excluded, its own patient
    assert searched["q3"] == plain["q3"]  # it has no text
    about = system["config"]["expansion"]
    assert (about["queries_with_text"], about["queries_without_text"]) == (2, 2)
    assert "2 of 4 queries have no" in " ".join(system["notes"])
    assert about.get("query_repeated") == (5 if kind == "query2doc" else None)
    [model] = system["models"]
    assert (model["model"], model["prompt"], model["prompt_sha256"]) == ("qwen-x", f"{kind}@1", [HASH])
    assert system["circular"] == [] and system["gain"]["doubts"] == []
    rows = pq.read_table(tmp_path / "out" / "per_query.parquet").to_pylist()
    ndcg = {(row["system"], row["query-id"]): row["nDCG@10"] for row in rows}
    gains = [ndcg[system["name"], query] - ndcg["bm25", query] for query in ("q1", "q2")]
    assert system["gain"]["mean"] == pytest.approx(sum(gains) / 2) and system["gain"]["queries"] == 2
    page = (tmp_path / "out" / "results.html").read_text()
    assert "qwen-x" in page and HASH[:16] in page and "secret" not in page and "‡" not in page


def test_a_family_behind_the_labels_is_flagged_and_a_third_one_is_not(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    path = written(tmp_path / "texts.parquet", TEXTS)
    name = "bm25+hyde:texts.parquet"
    for models, circular, doubt in (
        ([("answer-reasoning", "qwen-72b"), ("reasoning_path", "gpt-5")], ["judge"], "family of the judge"),
        ([("reasoning_path", "qwen-x"), ("hyde", "qwen-x")], ["reasoning path"], "family of the reasoning"),
        ([("answer-reasoning", "gpt-5"), ("reasoning_path", "claude-4")], [], "does not say which positives"),
        ([("answer-reasoning", "gpt-5")], [], ""),
        ([("answer-reasoning", "inhouse")], [], "is not known"),
    ):
        folder = release(*models).write(tmp_path / str(len(str(models))))
        system = run(folder, f"--system=bm25+hyde:{path}")[name]
        assert [item["role"] for item in system["circular"]] == circular
        doubts = system["gain"]["doubts"]
        assert doubt in " ".join(doubts) and bool(doubts) == bool(doubt), (models, doubts)
        page = (tmp_path / "out" / "results.html").read_text()
        assert ("‡" in page) == bool(circular)


def test_positives_that_the_reasoning_view_alone_found_do_not_count_in_the_gain(tmp_path: Path) -> None:
    collection = open_collection(toy().write(tmp_path))

    def ranking(*names: str) -> Ranking:
        places = [collection.corpus_ids.index(name) for name in names]
        return Ranking(np.array(places, np.int32), np.arange(len(names), 0, -1, dtype=np.float64))

    before = {"q1": ranking("d4", "d2"), "q3": ranking("d4")}
    after = {"q1": ranking("d1", "d2"), "q3": ranking("d1", "d4")}
    whole = gain(collection, (before, after), {"q1", "q3"}, frozenset())
    assert (whole.queries, whole.positives, whole.left_out) == (2, 3, 0)
    apart = frozenset({("q1", "d1"), ("q3", "d4")})
    part = gain(collection, (before, after), {"q1", "q3"}, apart)  # q3 has no other positive
    assert (part.queries, part.positives, part.left_out) == (1, 1, 2)
    assert part.mean == pytest.approx(1 - 1 / np.log2(3)) and whole.mean != part.mean  # d2 first, not second
    none = gain(collection, (before, after), {"q3"}, apart)
    assert (none.mean, none.queries, none.left_out) == (None, 0, 1)


@pytest.mark.parametrize(
    ("texts", "changes", "message"),
    [
        ({"q9": "x"}, {}, "does not have"),
        ({"q1": " "}, {}, "has no text"),
        ({"q1": "x"}, {"model": None}, "has no model"),
        ({"q1": "x"}, {"kind": "query2doc@1"}, "no row is of kind 'hyde'"),
    ],
)
def test_a_wrong_file_is_refused_before_any_system_runs(
    tmp_path: Path,
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    texts: dict[str, str],
    changes: dict[str, Any],
    message: str,
) -> None:
    folder = release().write(tmp_path)
    path = written(tmp_path / "texts" / "a.parquet", texts, **changes)
    monkeypatch.setattr(retrieval.Bench, "run", lambda bench, system: pytest.fail("a system ran"))
    with pytest.raises(UsageError, match=message) as raised:
        run(folder, "--system=bm25", f"--system=bm25+hyde:{path}")
    assert "a.parquet" in str(raised.value.file)


def test_files_that_are_none_are_refused(tmp_path: Path, run: Callable[..., Any]) -> None:
    folder = release().write(tmp_path)
    path = tmp_path / "texts" / "a.parquet"
    with pytest.raises(UsageError, match="there are no expansions"):
        run(folder, f"--system=bm25+hyde:{path}")
    path.parent.mkdir()
    path.write_bytes(b"no Parquet")
    with pytest.raises(UsageError, match="cannot be read"):
        run(folder, f"--system=bm25+hyde:{path}")
    pq.write_table(pa.table({"query-id": ["q1"], "text": ["x"]}), path)
    with pytest.raises(UsageError, match="lacks kind, model"):
        run(folder, f"--system=bm25+hyde:{path}")
    written(path, {"q1": "x"})
    written(path.with_name("b.parquet"), {"q1": "y"})
    with pytest.raises(UsageError, match="two expansions"):
        run(folder, f"--system=bm25+hyde:{path.parent}")
    for system in (
        "image+hyde:x",
        "hybrid+query2doc:x",
        "bm25+hyde:",
        "bm25+hyde:a+hyde:b",
        "bm25+rerank:llm:",
    ):
        with pytest.raises(UsageError):
            run(folder, f"--system={system}")


def test_the_release_s_own_texts_are_used_where_it_has_them(tmp_path: Path, run: Callable[..., Any]) -> None:
    made = release()
    folder = made.write(tmp_path)
    system = run(folder, "--system=bm25+hyde:release")["bm25+hyde:release"]
    assert system["status"] == "not_run" and "no expansions of kind hyde" in system["why_not"]
    written(folder / EXPANSIONS.folder / "test-00000-of-00001.parquet", TEXTS)
    made.seal(folder)
    found = run(folder, "--system=bm25+hyde:release", "--system=bm25+query2doc:release")
    assert found["bm25+hyde:release"]["config"]["expansion"]["queries_with_text"] == 2
    assert found["bm25+query2doc:release"]["status"] == "not_run"
    dev = run(folder, "--system=bm25+hyde:release", "--split", "dev")["bm25+hyde:release"]
    assert dev["status"] == "not_run"


def careful(system: str, prompt: str) -> tuple[str, str]:
    """A model that grades by a word of the document, and says nothing usable of one document."""
    _, blocks = outside_and_blocks(prompt, system)
    document = blocks[-1]
    score = 3 if "antibiotics" in document else 1 if "lobe" in document else 0
    text = json.dumps({"intent_match": 1, "trust": 1, "score": score})
    return ("no idea" if "quadrant" in document else text), "\n".join(sorted(blocks))


def test_a_language_model_puts_the_first_documents_in_order_and_is_asked_once(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = release(("answer", "gpt-test"))
    made.queries[0]["text"] = "IL6 in lower lobe pneumonia of an old fall"
    folder = made.write(tmp_path)
    names = ["--system=bm25", "--system=bm25+rerank:llm:gpt-test"]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    lost = run(folder, names[1], "--price-in", "1", "--price-out", "1", "--budget", "0")
    assert "budget of 0" in lost["bm25+rerank:llm:gpt-test"]["why_not"]
    with OpenAIServer(says=careful) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        found = run(folder, *names)
        asked = server.seen.requests
        again = run(folder, *names)
        assert server.seen.requests == asked and again == found
        bodies = json.dumps(server.seen.bodies)
    shallow = run(folder, names[1], "--rerank-depth", "1")  # the server is gone: every answer is stored
    assert ranked(tmp_path, shallow["bm25+rerank:llm:gpt-test"])["q1"][0] == "d1"
    found = run(folder, *names)
    system = found["bm25+rerank:llm:gpt-test"]
    plain, after = ranked(tmp_path, found["bm25"]), ranked(tmp_path, system)
    assert plain["q1"][0] == "d1" and after["q1"][:2] == ["d2", "d1"]
    assert sorted(after["q1"]) == sorted(plain["q1"]) and after["q2"] == plain["q2"]
    assert "d5" not in after["q1"] and "d6" not in after["q2"]
    about = system["config"]["reranker"]
    assert about["answers"]["invalid"] == about["not_graded"] == 1 and about["pairs"] == sum(
        about["answers"].values()
    )
    assert system["models"][0]["served_models"] == ["gpt-test-2026"] and len(about["prompt_sha256"][0]) == 64
    assert [item["role"] for item in system["circular"]] == ["judge"]
    assert "own_article" not in bodies and "pneumonia" in bodies
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]


def test_without_a_model_it_is_not_run(
    tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    made = release()
    folder = made.write(tmp_path)
    system = run(folder, "--system=bm25+rerank:llm:m")["bm25+rerank:llm:m"]
    assert system["status"] == "not_run" and "OPENAI_API_KEY is not set" in system["why_not"]
    made.head["task"] = "unheard_of"
    made.seal(folder)
    system = run(folder, "--system=bm25+rerank:llm:m")["bm25+rerank:llm:m"]
    assert system["status"] == "not_run" and "unheard_of" in system["why_not"]


@pytest.mark.parametrize("name", ["bm25+hyde:release", "bm25+rerank:llm:m"])
def test_what_rests_on_a_model_is_no_baseline(name: str) -> None:
    nothing: Any = None  # it is refused before session and tables are looked at
    with pytest.raises(UsageError, match="is no baseline"):
        derive(nothing, Baselines(systems=("bm25", name)), nothing)
