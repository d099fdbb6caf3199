"""A matcher over a few names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from curation.concepts.index import build_index
from curation.concepts.native import NativeMatcher, open_index
from schemas.vocabulary import ConceptName, ConceptType


@pytest.fixture
def matcher(tmp_path: Path) -> Callable[..., NativeMatcher]:
    """A matcher over names given as `id=name` (labels), `id~name` (synonyms)."""

    def build(*names: str, language: str = "en", types: Sequence[ConceptType] = ()) -> NativeMatcher:
        rows = []
        for entry in names:
            mark = "=" if "=" in entry else "~"
            concept, _, name = entry.partition(mark)
            rows.append(
                ConceptName(concept=f"T:{concept}", name=name, language=language, is_preferred=mark == "=")
            )
        path = tmp_path / "names.index"
        build_index(rows, path, types)
        return open_index(path)

    return build
