"""Finds dataset specs and turns them into stage parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from curation.tasks.registry import TASKS, task_of
from schemas.errors import UsageError
from schemas.spec import DatasetSpec, load_spec
from schemas.task import Settings

DATA_CARDS = Path(__file__).resolve().parents[2] / "data_cards"


def spec_path(dataset: str) -> Path:
    """The spec file of a dataset by name, or of a path to a spec file.

    Raises:
        UsageError: there is none.
    """
    given = Path(dataset)
    if given.suffix == ".toml" and given.is_file():
        return given
    path = DATA_CARDS / dataset / "spec.toml"
    if path.is_file():
        return path
    known = sorted(item.parent.name for item in DATA_CARDS.glob("*/spec.toml"))
    raise UsageError(
        f"no dataset is called {dataset!r}",
        file=str(path),
        hint="datasets here: " + (", ".join(known) or "none"),
    )


def read_spec(path: Path, overrides: Mapping[str, str] | None = None) -> DatasetSpec:
    """A spec with `--set` overrides applied.

    Raises:
        UsageError: it cannot be read, or names a task or a setting of one that there is no code for.
    """
    spec = load_spec(path, overrides)
    unknown = sorted(set(spec.tasks) - set(TASKS))
    if unknown:
        raise UsageError(
            f"the spec names a task that there is no code for: {', '.join(unknown)}",
            file=str(path),
            hint=f"tasks: {', '.join(TASKS)}",
        )
    for name, given in spec.tasks.items():
        _check_settings(name, given, path)
    return spec


def _check_settings(name: str, given: Mapping[str, Any], path: Path) -> None:
    """Hold the table [tasks.<name>] of a spec to the fields of the task's settings."""
    own = sorted(TASKS[name].settings.model_fields.keys() - Settings.model_fields.keys())
    known = "its settings: " + ", ".join(own)
    for key in sorted(given.keys() - set(own)):
        raise UsageError(f"tasks.{name}: there is no setting {key!r}", file=str(path), hint=known)
    try:
        TASKS[name].settings.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        said = f"tasks.{name}.{first['loc'][0]}: {first['msg']}, not {first['input']!r}"
        raise UsageError(said, file=str(path), hint=known) from error


def parameters_of(spec: DatasetSpec) -> dict[str, dict[str, Any]]:
    """Settings per task: the spec's own or the defaults, and its licence profile."""
    return {
        name: TASKS[name].settings(**given, licence_profile=spec.licence_profile).model_dump()
        for name, given in spec.tasks.items()
    }


def task_params(spec: str | None, overrides: Mapping[str, str] | None) -> dict[str, dict[str, Any]]:
    """Parameters per task of a spec path; without a spec every task keeps its defaults.

    Raises:
        UsageError: overrides without a spec to override.
    """
    if spec is None:
        if overrides:
            raise UsageError(
                "--set changes a spec, and none was given", hint="add --spec data_cards/<dataset>/spec.toml"
            )
        return {}
    return parameters_of(read_spec(Path(spec), overrides))


def image_params(spec: str | None, overrides: Mapping[str, str] | None) -> dict[str, Any]:
    """Parameters of the stage `images` of a spec path; without a spec nothing beyond the defaults.

    Raises:
        UsageError: overrides without a spec to override.
    """
    if spec is None:
        task_params(spec, overrides)
        return {}
    wanted = read_spec(Path(spec), overrides).images
    switched = {name: "on" if getattr(wanted, name) else "off" for name in ("faces", "ocr")}
    return {**switched, "ocr_languages": wanted.ocr_languages}


def check_images(params: Mapping[str, Any]) -> None:
    """Try what the stage `images` needs on a blank image.

    Raises:
        UsageError: an extra, a program or a language is missing.
    """
    from PIL import Image

    from curation.images.faces import count_faces
    from curation.images.ocr import read_text

    blank = Image.new("L", (64, 64))
    if params.get("faces") == "on":
        count_faces(blank)
    if params.get("ocr") == "on":
        read_text(blank, params["ocr_languages"])


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


def chosen_tasks(names: Sequence[str]) -> list[str]:
    """Task names to build; none named means all there are.

    Raises:
        UsageError: a name is not a task.
    """
    return sorted({task_of(name).name for name in names}) or list(TASKS)
