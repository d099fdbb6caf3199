"""What both backends do with languages: an index of each, opened when a text first needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from curation.concepts.backends import loading
from curation.concepts.backends.readings import settle
from curation.concepts.matcher import Match

Kinds = dict[str, list[str]]


class Index(Protocol):
    """A backend over one language."""

    def read(self, text: str) -> Iterator[Match]:
        """The best reading of every span of a text that has one."""


@dataclass(frozen=True, slots=True)
class LanguageMatcher:
    """Finds names by the index of a text's language.

    Attributes:
        path: folder of the indexes.
        languages: those there are.
        open_index: opens the index of one folder and language.
        strictness: what a similarity below 1 costs, see :func:`curation.concepts.backends.readings.settle`.
    """

    path: Path
    languages: frozenset[str]
    open_index: Callable[[Path, str], Index]
    strictness: float = 1.0
    _opened: dict[str, Index] = field(default_factory=dict)
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """Names in each of many texts; see :class:`curation.concepts.matcher.Matcher`."""
        for text in texts:
            yield self.find(text, language, overlaps=overlaps)

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Names in a text; see :class:`curation.concepts.matcher.Matcher`.

        A language the index has no names of is read as English; `score` is the backend's similarity.
        """
        base = loading.base_language(language)
        base = base if base in self.languages else "en"
        if base not in self.languages:
            return []
        with self._one_at_a_time:
            if base not in self._opened:
                self._opened[base] = self.open_index(self.path / base, base)
            return settle(self._opened[base].read(text), overlaps=overlaps, strictness=self.strictness)


def prepare_languages(
    names: Path,
    types: Path | None,
    destination: Path,
    backend: str,
    prepare: Callable[[Path, Kinds, str, Path], bool],
) -> None:
    """Build a backend's index of every language of a vocabulary.

    Args:
        names: Parquet of ConceptName rows.
        types: Parquet of ConceptType rows; without one every concept is an entity (T071).
        destination: folder of the index; an older one there is replaced.
        backend: its name.
        prepare: writes one language into a folder; False if no name of it can be found.
    """
    kinds = loading.read_types(types)
    temporary = loading.start_index(destination)
    languages = [
        language
        for language in loading.read_languages(names)
        if prepare(names, kinds, language, temporary / language)
    ]
    loading.finish_index(temporary, destination, backend, languages)
