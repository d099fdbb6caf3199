"""How large a change is, and the version that follows: semantic versioning for data.

After a pre-release the same change counts from its core: 1.1.0-rc1 is followed by 1.1.0 unless the change is
larger than the step that led there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

Level = Literal["none", "patch", "minor", "major"]
LEVELS: tuple[Level, ...] = ("none", "patch", "minor", "major")
"""major: what was measured on the earlier release cannot be compared any more. A label, text or id of a kept
    row is another, or rows left for another reason than withdrawal; a grade means something else; code that
    reads the tables breaks.
minor: rows, tasks or columns were added, and the kept ones are as they were: scores on the common queries
    over the common corpus are comparable. Also another licence of the whole.
patch: rows were withdrawn, or only what is told of rows differs: facets, provenance, card, stages, the
    vocabulary.
none: nothing of this. Versions are left out of the comparison, and the column `since` with them.
"""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9a-z.]+)?")


def largest(levels: Iterable[Level]) -> Level:
    """The largest of some levels, `none` of none."""
    return max(levels, key=LEVELS.index, default="none")


def next_version(version: str, level: Level) -> str:
    """The version that follows `version` after a change of this level (as node-semver's `inc` counts).

    Raises:
        ValueError: the text is no version, or nothing changed.
    """
    match = _VERSION.fullmatch(version)
    if match is None or level == "none":
        raise ValueError(f"no version follows {version!r} after the change {level!r}")
    major, minor, patch = (int(part) for part in match.groups()[:3])
    is_full = match.group(4) is None
    if level == "major":
        return f"{major + (is_full or minor > 0 or patch > 0)}.0.0"
    if level == "minor":
        return f"{major}.{minor + (is_full or patch > 0)}.0"
    return f"{major}.{minor}.{patch + is_full}"


def is_enough(version: str, needed: str) -> bool:
    """Whether a version is at least the one that is needed; a pre-release counts as its core."""
    return _core(version) >= _core(needed)


def _core(version: str) -> tuple[int, ...]:
    match = _VERSION.fullmatch(version)
    return tuple(int(part) for part in match.groups()[:3]) if match else ()
