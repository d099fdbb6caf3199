"""Questions about a facet of a concept, one data file per language, with the vocabulary's name unaltered.

Every frame puts the name in quotation marks, in apposition to a word that carries article, gender, case,
elision and contraction, so that no name is ever inflected.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from curation.tasks.crosslingual_qa.facets import FACETS
from curation.tasks.crosslingual_qa.records import Facet
from curation.tasks.shared.names import Script, scripts
from schemas.errors import MedqrelsError

HOLE = "{name}"
_FOLDER = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class Templates:
    """The questions of one language.

    Attributes:
        language: BCP-47.
        version: of the file: raised with every change of a frame.
        frames: facet -> question with one `{name}`.
        script: what a name of the language is written in.
    """

    language: str
    version: int
    frames: Mapping[Facet, str]
    script: Script

    def id_of(self, facet: Facet) -> str:
        """`es/treatment@1`."""
        return f"{self.language}/{facet}@{self.version}"

    def fits(self, name: str) -> bool:
        """Whether a name is in the script of the language."""
        return self.script.fits(name)

    def ask(self, facet: Facet, name: str) -> tuple[str, int, int]:
        """The question, and where the name stands in it."""
        start = self.frames[facet].index(HOLE)
        return self.frames[facet].replace(HOLE, name), start, start + len(name)


@functools.cache
def templates() -> Mapping[str, Templates]:
    """Language -> its questions, by language.

    Raises:
        MedqrelsError: a file lacks a facet, or a frame has not exactly one place for the name.
    """
    found = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        frames: dict[Facet, str] = {facet: data["frames"].get(facet, "") for facet in FACETS}
        for facet, frame in frames.items():
            if frame.count(HOLE) != 1:
                raise MedqrelsError(f"the question on {facet} has {frame.count(HOLE)} places for a name",
                                    file=str(path))  # fmt: skip
        found[path.stem] = Templates(path.stem, data["version"], frames, scripts()[path.stem])
    return found


def languages() -> tuple[str, ...]:
    """All languages that there are questions in, sorted."""
    return tuple(templates())
