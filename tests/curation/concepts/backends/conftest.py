"""Both backends over one small vocabulary of ours. Where an extra has no packages its tests are skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.concepts.backends import quickumls, scispacy
from curation.concepts.matcher import Matcher
from schemas.record import to_table
from schemas.vocabulary import ConceptName, ConceptType

NO_PACKAGES_FROM = {"quickumls": (3, 14), "scispacy": (3, 13)}
Opener = Callable[[Path], Matcher]


@dataclass(frozen=True, slots=True)
class Backend:
    """The two functions a backend has."""

    name: str
    prepare: Callable[[Path, Path | None, Path], None]
    open: Opener


BACKENDS = {
    "quickumls": Backend("quickumls", quickumls.prepare, quickumls.open_quickumls),
    "scispacy": Backend("scispacy", scispacy.prepare, scispacy.open_scispacy),
}


def named(concept: str, name: str, language: str = "en", *, synonym: bool = False) -> ConceptName:
    """One row."""
    return ConceptName(concept=concept, name=name, language=language, is_preferred=not synonym)


NAMES = (
    named("HP:0001250", "Seizure"),
    named("HP:0001250", "Epileptic seizure", synonym=True),
    named("UMLS:C0011849", "Diabetes mellitus"),
    named("UMLS:C0006142", "Malignant neoplasm of breast"),
    named("UMLS:C0027051", "Myocardial infarction"),
    named("HP:0002027", "Abdominal pain"),
    named("HP:0003418", "Back pain"),
    named("HP:0012531", "Pain"),
    named("HP:0001633", "Abnormal mitral valve morphology"),
    named("MESH:D006333", "Heart failure"),
    named("MESH:D006333", "Herzinsuffizienz", "de"),
    named("MESH:D006333", "心力衰竭", "zh"),
    named("MESH:D006333", "心不全", "ja"),
    named("MESH:D006333", "Сердечная недостаточность", "ru"),
    named("MESH:D006333", "Insuffisance cardiaque", "fr"),
    named("HP:0001250", "Épilepsie généralisée", "fr"),
    named("HP:0001250", "てんかん発作", "ja"),
    named("HP:0001250", "癫痫发作", "zh-Hans"),
)


def write(folder: Path, names: Iterable[ConceptName]) -> Path:
    """A vocabulary's names as Parquet."""
    path = folder / "names.parquet"
    pq.write_table(to_table(ConceptName, list(names)), path)
    return path


def needs(name: str) -> None:
    """Skips where the extra cannot be installed; elsewhere its absence fails the test that uses it."""
    if sys.version_info >= NO_PACKAGES_FROM[name]:
        pytest.skip(f"the packages of {name} are not made for this Python")


@pytest.fixture(scope="session", params=sorted(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each backend in turn."""
    needs(request.param)
    return BACKENDS[request.param]


@pytest.fixture(scope="session")
def index(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the small vocabulary."""
    folder = tmp_path_factory.mktemp(backend.name)
    types = folder / "types.parquet"
    kind = ConceptType(concept="HP:0001250", semantic_type="T184", group="DISO")
    pq.write_table(to_table(ConceptType, [kind]), types)
    backend.prepare(write(folder, NAMES), types, folder / "index")
    return folder / "index"


@pytest.fixture(scope="session")
def matcher(backend: Backend, index: Path) -> Matcher:
    """The backend, opened."""
    return backend.open(index)
