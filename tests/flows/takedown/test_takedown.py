"""A takedown on the sample of less than an article, and what is refused; of an article: test_to_the_hub."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flows.engine.register import REGISTER, read_register
from flows.engine.workspace import Workspace
from flows.takedown.takedown import takedown
from schemas.errors import UsageError, WorkspaceError
from tests.flows.release.test_release import Maintainer, released_once

TASK = "visual_context"

__all__ = ["released_once"]


@pytest.fixture
def maintainer(tmp_path: Path, released_once: Workspace, loads_in_one_process: None) -> Maintainer:
    """Someone who has made 1.0.0."""
    return Maintainer(tmp_path, released_once)


def test_a_figure_an_image_a_passage_and_a_query(maintainer: Maintainer) -> None:
    root = str(maintainer.workspace.root)
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
