"""What only scispaCy has: abbreviations, and an exact search in the place of its approximate one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curation.concepts.backends import scispacy
from curation.concepts.backends.by_language import LanguageMatcher
from curation.concepts.backends.loading import require

from .conftest import NAMES, named, needs, write


@pytest.fixture(scope="module", autouse=True)
def _extra() -> None:
    needs("scispacy")


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> LanguageMatcher:
    folder = tmp_path_factory.mktemp("scispacy")
    scispacy.prepare(write(folder, NAMES), None, folder / "index")
    return scispacy.open_scispacy(folder / "index")


def test_short_forms_stand_for_their_long_forms(matcher: LanguageMatcher) -> None:
    text = "Myocardial infarction (MI) was seen. MI recurred. The XY (xenon yield) rose; XY fell."
    found = [(text[m.start : m.end], m.concept, m.rule) for m in matcher.find(text)]
    assert found == [
        ("Myocardial infarction", "UMLS:C0027051", "exact"),
        ("MI", "UMLS:C0027051", "short_form"),
        ("MI", "UMLS:C0027051", "short_form"),
    ]


def test_trigrams_no_name_has_count_against_a_text(matcher: LanguageMatcher) -> None:
    assert [match.end - match.start for match in matcher.find("seizure zzqzz qqxqq")] == [7]


def test_the_knowledge_base_is_scispacys(tmp_path: Path) -> None:
    rows = [named("T:1", "Otosclerosis"), named("T:1", "Otospongiosis", synonym=True)]
    scispacy.prepare(write(tmp_path, rows), None, tmp_path / "index")
    linking = require("scispacy.linking_utils", "scispacy")
    base = linking.KnowledgeBase(str(tmp_path / "index/en/kb.jsonl"))
    assert base.cui_to_entity["T:1"].canonical_name == "Otosclerosis"
    assert base.cui_to_entity["T:1"].types == ["T071"]
    assert base.alias_to_cuis["Otospongiosis"] == {"T:1"}


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.85, 0.99])
def test_the_search_finds_what_comparing_all_pairs_finds(threshold: float) -> None:
    sparse = require("scipy.sparse", "scispacy")
    random = np.random.default_rng(4)
    names = sparse.random(400, 60, density=0.15, format="csr", random_state=random)
    queries = names[:200] + 0.5 * sparse.random(200, 60, density=0.1, format="csr", random_state=random)
    names, queries = (_normalised(matrix) for matrix in (names, queries))
    cosines = (queries @ names.T).toarray()
    found = scispacy.ExactNeighbours(names, threshold).knnQueryBatch(queries, k=1000)
    assert len(found) == 200
    for row, (rows, distances) in enumerate(found):
        expected = set(np.flatnonzero(cosines[row] > threshold + 1e-9))
        if expected:
            assert set(rows.tolist()) == expected
            assert np.all(np.diff(distances) >= -1e-5)
            assert np.allclose(1 - distances, cosines[row][rows])
        else:
            assert (rows.tolist(), distances.tolist()) == ([0], [1.0])
    assert sum(len(rows) for rows, _ in found) > 150


def _normalised(matrix: Any) -> Any:
    sparse = require("scipy.sparse", "scispacy")
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(lengths, 1e-12)) @ matrix)
