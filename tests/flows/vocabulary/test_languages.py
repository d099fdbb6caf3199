"""Languages that a spec asks for and the vocabulary has no names in are told before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.cli.app import run_cli
from flows.engine.workspace import open_workspace
from flows.specs import DATA_CARDS, read_spec
from flows.vocabulary.commands import add, babelon_readings, obo_reading
from flows.vocabulary.languages import without_names
from tests.flows.vocabulary.test_vocabulary import write_files

SPEC = DATA_CARDS / "medqrels-languages" / "spec.toml"


def test_names_in_no_language_and_in_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = read_spec(SPEC).model_copy(update={"languages": ("en", "de", "pt-BR")})
    workspace = open_workspace(tmp_path / "ws", create=True)
    told = without_names(workspace, spec, spec.tasks)
    assert told.startswith("concept_discrimination, crosslingual_qa, multilingual_evidence: ")
    assert (
        "no names in de, pt, which" in told
        and "add hpo (mondo, mesh), medqrels vocabulary add babelon" in told
    )
    files = write_files(tmp_path / "files")
    add([obo_reading(files / "toy.obo")], str(workspace.root))
    add(babelon_readings([files]), str(workspace.root))
    assert "no names in pt, which" in without_names(workspace, spec, ["crosslingual_qa"])
    english = spec.model_copy(update={"languages": ("en",)})
    assert not without_names(workspace, english, spec.tasks) and not without_names(
        workspace, None, spec.tasks
    )
    assert not without_names(workspace, spec, ["visual_context"]), "it asks by no name"
    capsys.readouterr()
    run_cli(["build", "--spec", str(SPEC), "--workspace", str(workspace.root)])
    assert "no names in es, fr, ja, pt, zh, which the spec asks for" in capsys.readouterr().err
