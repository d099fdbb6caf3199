"""A takedown on the sample: what it lists, what the next release lacks and says, and that it repeats."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import files, withdrawn
from flows.engine.register import REGISTER, read_register
from flows.engine.workspace import Workspace
from flows.takedown.takedown import describe, takedown
from schemas.errors import UsageError, WorkspaceError
from tests.curation.release.known import run_sql
from tests.flows.release.test_release import DATASET, Maintainer
from tests.pipeline import run_stages
from tests.releases import card_text

TASK = "visual_context"


@pytest.fixture
def maintainer(tmp_path: Path, sample: Workspace, loads_in_one_process: None) -> Maintainer:
    return Maintainer(tmp_path, sample)


def cells(directory: Path) -> set[str]:
    """Every text of every column of a release's tables, the tombstones and drops apart."""
    found: set[str] = set()
    for path in directory.rglob("*.parquet"):
        if path.parent.name not in ("withdrawn", "drops"):
            found.add(str(pq.read_table(path).drop_columns(["image"]).to_pylist())) if "image" in (
                pq.read_schema(path).names
            ) else found.add(str(pq.read_table(path).to_pylist()))
    return found


def test_an_article_is_gone_from_the_next_release_which_says_why(maintainer: Maintainer) -> None:
    root = str(maintainer.workspace.root)
    maintainer.release()
    before = pq.read_table(maintainer.directory("1.0.0") / "provenance/queries").to_pylist()
    sources = pq.read_table(maintainer.directory("1.0.0") / "provenance/sources").to_pylist()
    by = {row["id"] for row in sources if row["license"] == "CC-BY-4.0"}
    article = next(row["article_id"] for row in before if row["article_id"] in by)
    planned = takedown(article, "retracted", notice="Retracted by its journal", dry_run=True, workspace=root)
    assert not (maintainer.workspace.root / REGISTER).exists()
    own = [row["id"] for row in before if row["article_id"] == article]
    assert set(own) <= {row["id"] for row in planned["withdrawn"]}
    assert set(own) <= set(planned["releases"][f"{DATASET}/1.0.0/{TASK}"])
    done = takedown(article, "retracted", notice="Retracted by its journal", workspace=root)
    assert done["withdrawn"] == planned["withdrawn"] and len(done["shards"]) == 1
    held = (maintainer.workspace.root / REGISTER).read_bytes()
    again = takedown(article.removeprefix("pmc:").partition(".")[0], "court", workspace=root)
    assert (again["added"], again["shards"]) == (0, []) and "withdrawn before" in describe(again)
    assert (maintainer.workspace.root / REGISTER).read_bytes() == held
    with pytest.raises(WorkspaceError, match="out of date"):
        maintainer.release()
    run_stages(maintainer.workspace, tasks=[TASK])
    made = maintainer.release()
    assert made.version == "1.0.1" and made.why.startswith("patch since 1.0.0"), made.why
    directory = maintainer.directory("1.0.1")
    assert not any(article in text for text in cells(directory))
    listed = pq.read_table(directory / "provenance/withdrawn").to_pylist()
    assert {"article", "query"} <= {row["unit"] for row in listed} and set(own) <= {r["id"] for r in listed}
    assert f"`{own[0]}` (withdrawn)" in (directory / "CHANGELOG.md").read_text("utf-8")
    said = json.loads((directory / "withdrawn.json").read_text("utf-8"))["withdrawn"]
    assert said == listed and f"| article | `{article}` | retracted |" in card_text(directory)
    proved = audit(directory, run_sql, rules=(*withdrawn.RULES, *files.RULES))
    assert [(row.rule, row.findings) for row in proved.rules if row.status not in ("passed", "clean")] == []
    assert all(row.is_found is not False for row in proved.canaries)
    assert maintainer.release().version == "1.0.1"


def test_a_figure_an_image_a_passage_and_a_query(maintainer: Maintainer) -> None:
    root = str(maintainer.workspace.root)
    maintainer.release()
    origin = pq.read_table(maintainer.directory("1.0.0") / "provenance/queries").to_pylist()
    corpus = pq.read_table(maintainer.directory("1.0.0") / "provenance/corpus").to_pylist()
    figure = takedown(origin[0]["source_id"], "privacy", workspace=root)
    assert figure["named"]["unit"] == "figure" and "image" in {row["unit"] for row in figure["withdrawn"]}
    image = takedown(origin[1]["image_source_sha256"], "privacy", workspace=root)
    assert image["named"]["unit"] == "image" and origin[1]["id"] in {r["id"] for r in image["withdrawn"]}
    passage = takedown(corpus[-1]["id"], "licence", workspace=root)
    assert passage["named"]["unit"] == "passage"
    assert takedown(origin[2]["id"], "court", workspace=root)["named"]["unit"] == "query"
    made = maintainer.release()
    assert made.version == "1.0.1", made.why
    left = maintainer.queries("1.0.1")
    assert not {row["id"] for row in origin[:3]} & set(left)
    documents = pq.read_table(maintainer.directory("1.0.1") / "corpus")["id"].to_pylist()
    assert corpus[-1]["id"] not in documents and len(documents) == len(corpus) - 1


def test_what_is_not_known_and_a_damaged_list(maintainer: Maintainer) -> None:
    root = str(maintainer.workspace.root)
    with pytest.raises(UsageError, match="has that id"):
        takedown("pmc:PMC1.1", "retracted", workspace=root)
    with pytest.raises(UsageError, match="no reason is called"):
        takedown("pmc:PMC1.1", "whim", workspace=root)
    (maintainer.workspace.root / REGISTER).write_text('{"id": 1', "utf-8")
    with pytest.raises(WorkspaceError, match="line 1"):
        read_register(maintainer.workspace)
