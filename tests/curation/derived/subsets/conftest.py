"""A release whose parts can be told in advance: sixty queries of thirty articles, two hundred documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.ranking import Ranking, Run
from tests.curation.evaluation.world import Release, picture

SPECIALTIES = {"cardiology": 30, "neurology": 18, "urology": 12}
PICTURED_DOCUMENTS = 40


def big() -> Release:
    """Query n is answered by document 3 n, which names it; document 3 n + 1 is excluded for it.

    Two queries come from each article. Of three queries, one has an image; so have the first 40 documents.
    Query 0 has no positive. Region is decided for twelve cardiology queries.
    """
    made = Release()
    specialties = [name for name, count in SPECIALTIES.items() for _ in range(count)]
    for number in range(60):
        made.queries.append(
            {
                "id": f"q{number:02d}",
                "text": f"word{number} common finding of the patient",
                "specialty": specialties[number],
                "modality": "ct" if number % 2 else "mr",
                "region": ("head", "thorax")[number % 2] if 2 <= number < 24 else "",
                "article_id": f"a{number // 2:02d}",
                "image": picture(number) if number % 3 == 0 else None,
            }
        )
        if number:
            made.qrels.append((f"q{number:02d}", f"d{3 * number:03d}", 2))
        made.excluded.append((f"q{number:02d}", f"d{3 * number + 1:03d}"))
    for number in range(200):
        made.documents.append(
            {
                "id": f"d{number:03d}",
                "title": "Case",
                "text": f"word{number / 3:g} common text {'padding ' * (number % 7)}",
                "image": picture(number) if number < PICTURED_DOCUMENTS else None,
            }
        )
    made.queries.append({"id": "v0", "text": "word1", "split": "dev", "article_id": "v"})
    made.qrels.append(("v0", "d003", 2))
    return made


def ranked(collection: Collection, shift: int) -> Run:
    """For each query ten documents from `shift` on, those left out not among them."""
    run = {}
    for query in collection.queries:
        left_out = collection.left_out.get(query.id, np.empty(0, np.int32))
        places = np.setdiff1d(np.arange(shift, shift + 10, dtype=np.int32), left_out)
        run[query.id] = Ranking(places, np.linspace(1, 0.1, len(places), dtype=np.float64))
    return run


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release, read-only."""
    return big().write(tmp_path_factory.mktemp("big"))


@pytest.fixture
def whole(tmp_path: Path, written: Path) -> Collection:
    """Split test of a copy that may be written to."""
    target = tmp_path / "toy"
    shutil.copytree(written, target)
    return open_collection(target)
