"""release.json: what it is claimed under, and the formats that are read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.published.manifest import FORMAT_VERSION, NAME, OLDEST_FORMAT, read_manifest, unlike
from schemas.errors import ReleaseError
from tests.curation.release.known import World

HERE = {"lock": "a" * 64, "python": "3.11", "unicode": "14.0.0", "machine": "x86_64 glibc"}


def test_what_a_release_was_made_with_is_inside_its_hash(world: World) -> None:
    one = world.manifest(version="1.0.0", made_with=HERE)
    other = world.manifest(out="elsewhere", version="1.0.0", made_with={**HERE, "python": "3.12"})
    assert dict(one.made_with) == HERE and one.files == other.files
    assert one.release_hash != other.release_hash
    assert read_manifest(world.root / "releases" / "known" / "1.0.0" / "visual_context") == one


def test_a_rebuild_under_another_claim_is_told_as_such(world: World) -> None:
    world.manifest(made_with=HERE)
    with pytest.raises(
        ReleaseError, match=r"other content, made under another claim: python 3.11 \(here 3.12\)"
    ):
        world.manifest(made_with={**HERE, "python": "3.12"})
    with pytest.raises(ReleaseError, match=r"lock aaaaaaaaaaaaaaaa \(here bbbbbbbbbbbbbbbb\)\n"):
        world.manifest(made_with={**HERE, "lock": "b" * 64})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format_version": OLDEST_FORMAT}, "says it is of format 2, but change, made_with, .* unknown"),
        ({"format_version": FORMAT_VERSION + 1}, "of format 5; this version reads 2 to 4"),
        ({"format_version": "3"}, "of format '3'"),
        ({"colour": "red"}, "but colour is missing or unknown"),
    ],
)
def test_fields_and_format_must_fit(world: World, change: dict[str, object], said: str) -> None:
    directory: Path = world.release()
    content = json.loads((directory / NAME).read_text("utf-8"))
    (directory / NAME).write_text(json.dumps(content | change), encoding="utf-8")
    with pytest.raises(ReleaseError, match=said):
        read_manifest(directory)


def test_equal_claims_and_none_are_not_told() -> None:
    assert unlike(HERE, dict(reversed(HERE.items()))) == "" == unlike({}, {})
