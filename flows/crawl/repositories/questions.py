"""Question collections on disk as a repository: JSONL or JSON files with their sidecars."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.repositories.base import CrawlRequest, Opened, Opening, SpecKey, as_folder
from flows.crawl.selection import Selection
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.errors import InputError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from sources import questions
from sources.questions.sidecar import SUFFIX, read_sidecar, sidecar_of


class QuestionsRequest(CrawlRequest):
    """Take question collections (JSON Lines or JSON with a sidecar, docs/questions.md)."""

    source: ClassVar[SourceName] = "questions"
    offers_profile: ClassVar[bool] = False

    path: Annotated[Path, SpecKey("questions", many=True, path="always")] = Field(
        description="File of questions, its sidecar, or a folder of them."
    )

    @property
    def root(self) -> str:
        """The folder of the collections."""
        return str(questions.root_of(as_folder(self.path)))

    def preview(self, settings: Settings) -> list[str]:
        """Data files of the target."""
        return questions.discover(as_folder(self.path))

    def open(self, opening: Opening) -> Opened:
        """Every collection of the target."""
        context = questions.QuestionsContext(root=Path(self.root), store=opening.store)
        return Opened(
            locators=questions.discover(as_folder(self.path)),
            fetch=lambda locator: questions.fetch(locator, context),
            root=self.root,
            fingerprint=_fingerprint,
        )


def _fingerprint(selection: Selection) -> str:
    """Hash over the sidecars and data files of a selection: an edited one is read again."""
    root = Path(selection.root)
    files = sorted({path for locator in selection.locators for path in _files(root / locator)})
    return sha256_text(canonical_json([[path.name, sha256_file(path)] for path in files if path.is_file()]))


def _files(given: Path) -> list[Path]:
    """The sidecar and the data file that a locator means; a sidecar that does not read stands alone."""
    sidecar = given if given.name.endswith(SUFFIX) else sidecar_of(given)
    try:
        named = read_sidecar(sidecar.read_bytes(), sidecar.name).file
    except (OSError, InputError):
        return [given, sidecar]
    return [sidecar, sidecar.parent / (named or sidecar.name.removesuffix(SUFFIX))]
