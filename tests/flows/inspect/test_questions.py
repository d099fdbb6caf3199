"""`show` puts a cross-lingual question side by side in all its languages, with the origin of its words."""

from __future__ import annotations

from typing import Any

import pytest

from flows.cli.app import run_cli
from flows.engine.runner import table_files
from flows.engine.workspace import Workspace
from flows.inspect.questions import describe_question, is_a_question, trace_question
from schemas.errors import UsageError
from tests.translated_world import read_tables

NAME = "crosslingual_qa"


def asked(sample: Workspace, tier: str) -> dict[str, Any]:
    """The first query of a tier."""
    return next(row for row in read_tables(sample, f"{NAME}_all.queries") if row["tier"] == tier)


def test_a_question_shows_its_languages_origins_labels_and_what_stages_decided(sample: Workspace) -> None:
    query = asked(sample, "definition")
    found = trace_question(sample, query["id"])
    text = describe_question(found)
    (name,) = (row["name"] for row in found["strings"].values())
    assert f"en {query['id']}: {query['text']}" in text and f"name {name!r} at 23-" in text
    assert query["license"] in text and "official" in text
    assert {row["language"] for row in found["drops"]} == {"de", "es", "fr", "it", "ja", "pt", "ru", "zh"}
    assert "ja no query: no_name_in_language" in text
    (label,) = found["qrels"]
    assert f"2 {label['corpus_id']}  {label['rule']}: {label['evidence'][0]['text'][:40]}" in text
    assert f"{NAME}_questions" in text  # the decisions of stages below


def test_a_known_item_shows_the_version_it_has_to_find(sample: Workspace) -> None:
    query = asked(sample, "parallel")
    text = describe_question(trace_question(sample, query["id"]))
    assert f"human text {query['source_id']} of {query['article_id']}, {query['license']}" in text
    assert f"  en {query['family']}: " in text and "own_article" in text and "no query:" not in text


def test_translations_and_recipes_stand_beside_each_other(sample: Workspace) -> None:
    found = trace_question(sample, asked(sample, "definition")["id"])
    (query,) = found["queries"]
    (origin,) = found["strings"].values()
    spanish = {**query, "id": f"{NAME}-es", "language": "es", "text": "¿Qué es la afección «gota»?"}
    found["queries"].append(spanish)
    found["strings"][spanish["id"]] = {**origin, "source": "HPO_ES", "license": "LicenseRef-terms-HPO_ES"}
    found["recipes"] = [
        {"language": "pt", "query_id": f"{NAME}-pt", "frame": "O que é «{name}»?", "source": "MSHPOR",
         "term_type": "MH", "code": "D1"}
    ]  # fmt: skip
    lines = describe_question(found).splitlines()
    shown = [line[2:4] for line in lines if line[4:].startswith(f" {NAME}-")]
    assert shown == ["en", "es", "pt"]
    assert any("HPO_ES" in line and "LicenseRef-terms-HPO_ES" in line for line in lines)
    assert not any(line.startswith("  pt no query") for line in lines)  # the recipe says it


def test_an_unknown_id_is_refused_and_show_takes_a_known_one(
    sample: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert is_a_question(f"{NAME}-0") and not is_a_question("multilingual_evidence-0")
    with pytest.raises(UsageError, match="no query"):
        trace_question(sample, f"{NAME}-0")
    assert table_files(sample, f"{NAME}_all.queries")
    assert run_cli(["show", asked(sample, "parallel")["id"], "--workspace", str(sample.root)]) == 0
    assert "human text" in capsys.readouterr().out
