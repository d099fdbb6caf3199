"""Finds and reads dataset specs, and what `--set` and task names on the command line mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from curation.prompts.registry import KINDS
from curation.tasks.registry import TASKS, task_of
from flows.crawl.repositories.base import CrawlRequest
from flows.crawl.spec_sources import requests_of
from schemas.errors import UsageError
from schemas.invalid import said_of
from schemas.spec import DatasetSpec, Images, load_spec
from schemas.task import Settings
from schemas.wording import meant

DATA_CARDS = Path(__file__).resolve().parents[1] / "data_cards"


def spec_path(dataset: str) -> Path:
    """The spec file of a dataset by name, or of a path to a spec file.

    Raises:
        UsageError: there is none.
    """
    given = Path(dataset)
    if given.suffix == ".toml":
        return given
    path = DATA_CARDS / dataset / "spec.toml"
    if path.is_file():
        return path
    known = sorted(item.parent.name for item in DATA_CARDS.glob("*/spec.toml"))
    raise UsageError(
        f"no dataset is called {dataset!r}{meant(dataset, known)}",
        file=str(DATA_CARDS),
        hint="datasets here: " + (", ".join(known) or "none"),
    )


def read_spec(path: Path, overrides: Mapping[str, str] | None = None) -> DatasetSpec:
    """A spec with `--set` overrides applied.

    Raises:
        UsageError: it cannot be read, or names a task, a setting, a kind of prompt or a source without code.
    """
    spec = load_spec(path, overrides)
    unknown = sorted(set(spec.tasks) - set(TASKS))
    if unknown:
        named = ", ".join(unknown) + meant(unknown[0], TASKS)
        raise UsageError(
            f"the spec names a task that there is no code for: {named}",
            file=str(path),
            hint=f"tasks: {', '.join(TASKS)}",
        )
    for name, given in spec.tasks.items():
        _check_settings(name, given, path)
    if unasked := sorted(set(spec.prompts.stages) - set(KINDS)):
        raise UsageError(
            f"prompts.stages: there is no kind of prompt {unasked[0]!r}{meant(unasked[0], KINDS)}",
            file=str(path),
            hint=f"kinds: {', '.join(KINDS)}",
        )
    requests_of(spec, path)
    return spec


def _check_settings(name: str, given: Mapping[str, Any], path: Path) -> None:
    """Hold the table [tasks.<name>] of a spec to the fields of the task's settings."""
    settings = TASKS[name].settings
    own = sorted(settings.model_fields.keys() - Settings.model_fields.keys())
    known = "its settings: " + ", ".join(own)
    for key in sorted(given.keys() - set(own)):
        raise UsageError(
            f"tasks.{name}: there is no setting {key!r}{meant(key, own)}", file=str(path), hint=known
        )
    try:
        settings.model_validate(dict(given))
    except ValidationError as error:
        where, what = said_of(error, settings)
        said = f"tasks.{name}.{where[0]}: {what}, not {given[where[0]]!r}"
        raise UsageError(said, file=str(path), hint=known) from error


@dataclass(frozen=True, slots=True)
class Dataset:
    """A spec as it was read at the edge; a run hands it on, so that the file is read once.

    Attributes:
        spec: what it says, overrides applied.
        path: the file; paths in it are relative to its folder, and the prose lies beside it.
        overrides: `--set` changes, which a release records.
    """

    spec: DatasetSpec
    path: Path
    overrides: Mapping[str, str] = field(default_factory=dict)

    @property
    def cards(self) -> Path:
        """Folder of the prose that only people can write."""
        return self.path.parent

    def requests(self) -> list[CrawlRequest]:
        """What to crawl.

        Raises:
            UsageError: the spec names no source.
        """
        found = requests_of(self.spec, self.path)
        if not found:
            raise UsageError(
                "the spec names no source", file=str(self.path), hint="set pmc_ids or folders under [sources]"
            )
        return found


def read_dataset(path: Path, overrides: Mapping[str, str] | None = None) -> Dataset:
    """The dataset of a spec file.

    Raises:
        UsageError: as :func:`read_spec`.
    """
    return Dataset(read_spec(path, overrides), path, dict(overrides or {}))


def given_spec(path: Path | None, overrides: Mapping[str, str] | None = None) -> DatasetSpec | None:
    """The spec of `--spec`; None when none was given.

    Raises:
        UsageError: overrides without a spec to override, or as :func:`read_spec`.
    """
    if path is not None:
        return read_spec(path, overrides)
    if overrides:
        raise UsageError(
            "--set changes a spec, and none was given", hint="add --spec data_cards/<dataset>/spec.toml"
        )
    return None


def check_images(wanted: Images) -> None:
    """Try what a spec looks for in images on a blank one.

    Raises:
        UsageError: an extra, a program or a language is missing.
    """
    from PIL import Image

    from curation.images.faces import count_faces
    from curation.images.ocr import read_text

    blank = Image.new("L", (64, 64))
    if wanted.faces:
        count_faces(blank)
    if wanted.ocr:
        read_text(blank, wanted.ocr_languages)


def parse_overrides(pairs: tuple[str, ...]) -> dict[str, str]:
    """`key=value` arguments of `--set`.

    Raises:
        UsageError: an argument has no `=`.
    """
    overrides = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(
                f"--set {pair!r} is not key=value", hint="e.g. --set tasks.visual_context.min_words=30"
            )
        overrides[key.strip()] = value.strip()
    return overrides


def chosen_tasks(names: Sequence[str], spec: DatasetSpec | None = None) -> list[str]:
    """Task names to build; none named means those of the spec, and without a spec all there are.

    Raises:
        UsageError: a name is not a task.
    """
    chosen = {task_of(name).name for name in names}
    return sorted(chosen or set(spec.tasks if spec else ())) or list(TASKS)
