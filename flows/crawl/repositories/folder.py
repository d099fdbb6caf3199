"""A folder of JATS files as a repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from flows.crawl.locators import discover
from flows.crawl.repositories.base import (
    CrawlRequest,
    Opened,
    Opening,
    SpecKey,
    as_folder,
    max_media_bytes,
    max_xml_bytes,
)
from flows.crawl.selection import Selection
from flows.engine.settings import Settings
from schemas.article import SourceName
from schemas.hashing import canonical_json, sha256_file, sha256_text
from schemas.wording import counted
from sources import folder

_SHOWN = 5
"""Files named of those that hold no article."""


class FolderRequest(CrawlRequest):
    """Take articles from a folder of JATS files."""

    source: ClassVar[SourceName] = "folder"

    path: Annotated[Path, SpecKey("folders", many=True, path="always")] = Field(
        description="Folder of JATS files with their images beside them."
    )

    @property
    def root(self) -> str:
        """The folder."""
        return str(as_folder(self.path))

    def preview(self, settings: Settings) -> list[str]:
        """XML files of the folder."""
        return discover(as_folder(self.path))

    def open(self, opening: Opening) -> Opened:
        """Every XML file of the folder."""
        root = as_folder(self.path)
        context = folder.FolderContext(
            root=root,
            store=opening.store,
            max_xml_bytes=max_xml_bytes(opening.settings),
            max_media_bytes=max_media_bytes(opening.settings),
        )
        return Opened(
            locators=discover(root),
            fetch=lambda locator: folder.fetch(locator, context),
            root=str(root),
            fingerprint=fingerprint,
            found=lambda: told(context.others),
        )


def told(others: Sequence[str]) -> list[str]:
    """A line on the files that hold no JATS article, with the first few by name; none where all do."""
    if not others:
        return []
    names = ", ".join(sorted(others)[:_SHOWN]) + (", …" if len(others) > _SHOWN else "")
    verb = "holds" if len(others) == 1 else "hold"
    return [f"{counted(len(others), 'file')} {verb} no JATS article and will be left out at extract: {names}"]


def fingerprint(selection: Selection) -> str:
    """Hash over the selection's own files and what stands beside them: an edited file is read again."""
    root = Path(selection.root)
    mine = {folder.path_of(locator, root) for locator in selection.locators}
    near = {
        item
        for folder_path in sorted({path.parent for path in mine})
        if folder_path.is_dir()
        for item in folder_path.iterdir()
        if item.is_file() and item.suffix.lower() not in folder.XML_SUFFIXES
    }
    files = sorted((folder.as_text(path.relative_to(root).as_posix()), path) for path in mine | near)
    return sha256_text(
        canonical_json([[name, sha256_file(path) if path.is_file() else ""] for name, path in files])
    )
