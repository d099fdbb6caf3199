"""The measure of facets among passages about the right concept, beside the exact name and a lot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.evaluation.collection import Collection, open_collection
from curation.evaluation.facets import EXACT, LOT, exact_names, facet_report
from curation.evaluation.ranking import Ranking
from tests import releases
from tests.curation.evaluation.world import Release, toy

SWAPPED = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
"""nDCG of the neighbouring facet before the facet asked."""
TEXTS = ("Gout is treated with rest.", "Gout, gout and Gout: crystals.", "Of gout in antiquity.", "Asthma.")


@pytest.fixture
def asked(tmp_path: Path) -> Collection:
    """One concept asked about in two languages; d1 answers, d2 is near, d3 tells a far facet."""
    release = Release(
        documents=[{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS, 1)],
        queries=[
            {"id": "q1", "text": "How is gout treated?", "language": "en"},
            {"id": "q2", "text": "¿Cómo se trata la gota?", "language": "es"},
            {"id": "q3", "text": "What is asthma?", "language": "en"},
            {"id": "q4", "text": "Gota tratada con reposo", "language": "es"},
        ],
        qrels=[
            ("q1", "d1", 2),
            ("q1", "d2", 1),
            ("q2", "d1", 2),
            ("q2", "d2", 1),
            ("q3", "d4", 2),
            ("q4", "d1", 2),
            ("q4", "d2", 0),
        ],
    )
    folder = release.write(tmp_path)
    far = [{"query-id": query, "corpus-id": "d3", "rank": 1} for query in ("q1", "q2")]
    rows = (("q1", "en", "gout", "C:1"), ("q2", "es", "gota", "C:1"), ("q3", "en", "asthma", "C:2"))
    strings = [
        {**dict(zip(("query-id", "language", "name", "concept"), row, strict=True)), "kind": "template"}
        for row in rows
    ]
    strings.append({"query-id": "q4", "language": "es", "kind": "human"})  # a known item: no question
    releases.write(folder, {"hard_pool": far, "strings": strings})
    release.seal(folder)
    return open_collection(folder)


def ranked(*places: int) -> Ranking:
    return Ranking(np.array(places, np.int32), np.arange(len(places), 0, -1).astype(np.float64))


def test_only_the_order_among_passages_about_the_concept_counts(asked: Collection) -> None:
    runs = {
        "late": {"q1": ranked(3, 0, 2, 1), "q2": ranked(3, 0, 1, 2)},
        "near first": {"q1": ranked(1, 0, 2), "q2": ranked(0, 1)},
    }
    found = facet_report(asked, asked.directory, runs)
    assert found is not None
    facet: dict[str, Any] = {name: made["facet"]["mean"] for name, made in found["systems"].items()}
    late = (1 + (2 + 1 / 2) / (2 + 1 / np.log2(3))) / 2  # once the far facet stands before the near one
    assert facet["late"] == pytest.approx(late, abs=1e-6)
    assert facet["near first"] == pytest.approx((SWAPPED + 1) / 2, abs=1e-6)
    assert found["systems"]["near first"]["languages"] == {
        "en": pytest.approx(SWAPPED, abs=1e-6), "es": pytest.approx(1.0)
    }  # fmt: skip
    assert (found["queries"], found["queries_of_one_grade"], found["passages"]) == (2, 1, 3.0)
    assert found["systems"]["late"]["nDCG@10"]["mean"] < facet["late"]
    assert facet[EXACT] == pytest.approx(SWAPPED, abs=1e-6) and 0.6 < facet[LOT] < 0.95


def test_the_exact_name_finds_all_that_have_it_in_any_language_asked(asked: Collection) -> None:
    run = exact_names(asked, {"q1": "gout", "q2": "gout", "q3": "asth"})
    assert run["q1"].documents.tolist() == run["q2"].documents.tolist() == [1, 0, 2]
    assert run["q1"].scores.tolist() == [3.0, 1.0, 1.0]
    assert run["q3"].documents.tolist() == []  # part of a word is no name


def test_a_task_without_named_concepts_has_no_such_report(tmp_path: Path) -> None:
    collection = open_collection(toy().write(tmp_path))
    assert facet_report(collection, collection.directory, {}) is None
