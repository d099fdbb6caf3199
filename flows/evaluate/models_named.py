"""Which language models made a release's labels, and whether a system's own is of their families."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from annotation.judge.circularity import circular, families
from curation.evaluation.collection import Head
from curation.prompts import support
from curation.prompts.reasoning_path import REASONING_PATH
from schemas.prompt import models_in

_ROLES: Final = {
    **{support.label(axes).partition("@")[0]: "judge" for axes in (support.ANSWER, support.ANSWER_REASONING)},
    REASONING_PATH.name: "reasoning path",
}
"""Kind of prompt -> what its model is for the labels of a release."""


@dataclass(frozen=True, slots=True)
class Labeller:
    """A language model that labels rest on, by any of its names."""

    role: str
    names: tuple[str, ...]


def labellers(head: Head) -> list[Labeller]:
    """Models whose answers shaped the labels of a release, as its stages name them."""
    found = []
    for stage in head.stages:
        params = stage.get("params", {})
        role = _ROLES.get(str(params.get("prompt", "")).partition("@")[0])
        if role and (models := models_in(params)):
            found.append(Labeller(role, _names([*models, *params.get("served_models", ())])))
    return found


def relations(names: Iterable[str], head: Head) -> list[dict[str, Any]]:
    """Labellers of a release that are of one family with a model, or are that model.

    Args:
        names: under which the model is known: as it was asked for, and as servers named it.
        head: of the release.
    """
    mine, found = _names(names), []
    for other in labellers(head):
        related = [item for name in mine for item in circular(name, other.names)]
        if related:
            shared = sorted({family for item in related for family in item.families})
            found.append({"role": other.role, "model": other.names[0], "families": shared})
    return found


def unknown_family(names: Iterable[str], head: Head) -> bool:
    """Whether the family of a model, or of a labeller that it is not related to, is not known.

    Then nobody can say that it is a third family.
    """
    everyone = [_names(names), *(item.names for item in labellers(head))]
    return any(not frozenset().union(*map(families, known)) for known in everyone)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
