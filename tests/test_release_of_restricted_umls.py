"""Confusion sets of a generated UMLS folder: restricted names stay home, and come back byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import confusion_names, confusions, restricted
from curation.tasks.registry import TASKS
from flows.cli.app import run_cli
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from flows.vocabulary import current
from schemas.hashing import sha256_text
from tests.curation.vocabulary.builders import mrconso, mrsab
from tests.pipeline import run_partition, run_stages
from tests.restricted_umls import restricted as restrict

NAME = "concept_discrimination"
SPEC = f"""
name = "umls-sets"
title = "Sets of a Metathesaurus"
[baselines]
systems = []
[tasks.{NAME}]
"""


def german(cui: str) -> str:
    """An invented German name; the digits in letters, as no two may be alike."""
    return f"Geheimes Leiden {''.join('abcdefghij'[int(digit)] for digit in cui[1:]).capitalize()}"


def metathesaurus(sample: Workspace, folder: Path) -> dict[str, str]:
    """Diseases of the sample's vocabulary as a META folder: names, types, definitions, parents.

    Returns:
        Concept -> CUI.
    """
    vocabulary = current(sample)
    assert vocabulary is not None

    def rows(table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(vocabulary.table(table)).to_pylist()
        return [row for row in found if row["concept"].startswith("MONDO:")]

    names = sorted(rows("names"), key=lambda row: (row["concept"], not row["is_preferred"], row["name"]))
    cuis = {concept: f"C9{place:06d}" for place, concept in enumerate(sorted({r["concept"] for r in names}))}
    plain = folder / "plain"
    plain.mkdir(parents=True)
    conso, seen = [], set[str]()
    for place, row in enumerate(names):
        concept, cui = row["concept"], cuis[row["concept"]]
        is_label = concept not in seen
        kind = "PT" if is_label else "SY"
        conso.append(
            mrconso(cui, row["name"], tty=kind, code=concept, preferred=is_label, aui=f"A{place:07d}")
        )
        if is_label:
            conso.append(
                mrconso(cui, german(cui), lat="GER", sab="MSHGER", code=f"D{cui}", aui=f"A8{place:06d}")
            )
        seen.add(concept)
    (plain / "MRCONSO.RRF").write_text("".join(conso), "utf-8")
    sources = (("HPO", "0", "ENG"), ("MSHGER", "0", "GER"))
    (plain / "MRSAB.RRF").write_text(mrsab(sources), "utf-8")
    types = sorted({(cuis[row["concept"]], row["semantic_type"]) for row in rows("types")})
    (plain / "MRSTY.RRF").write_text("".join(f"{c}|{t}|A2|Name|AT1||\n" for c, t in types), "utf-8")
    told = [f"{cuis[row['concept']]}|A1|AT1||HPO|{row['text']}|N||\n" for row in rows("definitions")]
    (plain / "MRDEF.RRF").write_text("".join(told), "utf-8")
    parents = [(row["concept"], row["other"]) for row in rows("relations") if row["relation"] == "parent"]
    restrict(plain, folder / "META", {"MSHGER"}, parents)
    return cuis


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> tuple[Path, Workspace]:
    """The task's release and its workspace, whose vocabulary is a Metathesaurus alone."""
    root = tmp_path_factory.mktemp("umls")
    metathesaurus(sample, root)
    ignored = {str(sample.root): ["vocabulary"]}
    shutil.copytree(sample.root, root / "ws", ignore=lambda folder, names: ignored.get(str(folder), []))
    workspace = Workspace(root / "ws")
    command = ["vocabulary", "build", "--umls", str(root / "META"), "--workspace", str(workspace.root)]
    assert run_cli(command) == 0
    cards = root / "cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return workspace.releases / "umls-sets" / "1.0.0" / NAME, workspace


def rows(directory: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(directory / table).to_pylist()
    return found


def texts(directory: Path) -> Iterator[str]:
    """All that the files of a release say."""
    for path in sorted(item for item in directory.rglob("*") if item.is_file()):
        if path.suffix == ".parquet":
            yield json.dumps(pq.read_table(path).to_pylist(), ensure_ascii=False, default=str)
        else:
            yield path.read_bytes().decode("utf-8", "replace")


def test_sets_are_made_of_it_and_no_restricted_name_leaves(made: tuple[Path, Workspace]) -> None:
    directory, _ = made
    asked = {row["id"] for row in rows(directory, "queries")}
    recipes = rows(directory, "name_recipes")
    assert {row["concept"].partition(":")[0] for row in rows(directory, "confusions")} == {"UMLS"}
    assert {row["query-id"] for row in recipes} == asked and len(asked) > 5
    assert {(row["tier"], row["text"], row["source"]) for row in recipes} == {("restricted", "", "MSHGER")}
    assert not any("Geheimes" in text for text in texts(directory))
    assert not (directory / "names").exists()
    looked = (*confusions.RULES, *confusion_names.RULES, *restricted.RULES)
    found = {item.rule: item.status for item in audit(directory, query(), rules=looked, plant=False).rules}
    assert "failed" not in found.values() and found["confusion_sets"] == "passed"


def test_they_come_back_byte_for_byte_from_ones_own_metathesaurus(
    made: tuple[Path, Workspace], tmp_path: Path
) -> None:
    directory, workspace = made
    folder = tmp_path / "filled"
    command = ["vocabulary", "fill", str(directory), str(folder), "--workspace", str(workspace.root)]
    assert run_cli(command) == 0
    filled = {row["id"]: row for row in rows(folder, "names/corpus")}
    wanted = rows(directory, "name_recipes")
    assert filled.keys() == {row["corpus-id"] for row in wanted}
    for row in wanted:
        name = filled[row["corpus-id"]]["text"]
        assert name.encode() == german(row["concept"].partition(":")[2]).encode()
        assert sha256_text(name) == row["text_sha256"]
    assert {row["document_language"] for row in rows(folder, "names/queries")} == {"de"}
