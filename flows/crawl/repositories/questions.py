"""Question collections on disk as a repository: JSONL or JSON files with their sidecars."""

from __future__ import annotations

from pathlib import Path

from flows.crawl.repositories.base import CrawlRequest, Opened, Opening, as_folder
from flows.crawl.selection import Selection
from flows.engine.settings import Settings
from schemas.errors import InputError
from schemas.hashing import canonical_json, sha256_file, sha256_text
from sources import questions
from sources.questions.sidecar import SUFFIX, read_sidecar, sidecar_of


def endpoints(request: CrawlRequest, settings: Settings) -> tuple[str, ...]:
    """None: the files are on this machine."""
    return ()


def preview(request: CrawlRequest, settings: Settings) -> list[str]:
    """Data files of the target."""
    return questions.discover(as_folder(request.target))


def open_source(request: CrawlRequest, opening: Opening) -> Opened:
    """Every collection of the target."""
    target = as_folder(request.target)
    root = questions.root_of(target)
    context = questions.QuestionsContext(root=root, store=opening.store)
    return Opened(
        locators=questions.discover(target),
        fetch=lambda locator: questions.fetch(locator, context),
        root=str(root),
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
