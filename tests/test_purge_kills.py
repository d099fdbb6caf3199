"""A slice of the purge campaign (the whole one: benchmarks/purge_kills.py), and that its checks can fail."""

from __future__ import annotations

from benchmarks.purge_kills import HUB, LOCAL, S3, Step, is_good, kill, left, prepared


def test_killed_at_a_step_the_same_purge_ends_as_if_nothing_had_happened() -> None:
    with prepared() as scene:
        first, last = (scene.cases[name].steps for name in ("first", "last"))
        kinds = {(where, kind) for where, kind, *_ in last}
        assert {(HUB, "squash"), (HUB, "tag-delete"), (HUB, "lfs-delete"), (S3, "DELETE")} <= kinds
        assert {where for where, *_ in first} == {LOCAL} and len(first) > 100

        places: list[tuple[str, Step]] = [
            *(("first", (LOCAL, "", at, False)) for at in (39, 158)),
            ("last", (HUB, "squash", 1, True)),
            ("last", (S3, "DELETE", 3, True)),
        ]  # fmt: skip
        results = [kill(scene, name, step) for name, step in places]
        assert all(map(is_good, results)), results
        assert left(scene) == []
        scene.system.call_s3("put_object", Bucket="releases", Key="shelf/old", Body=scene.world.words)
        scene.system.call_s3("delete_object", Bucket="releases", Key="shelf/old")
        (scene.now / "copy.txt").write_bytes(b"..." + scene.world.words)
        assert left(scene) == ["S3 shelf/old", "workspace copy.txt"]
    assert not is_good({**results[0], "killed": False}) and not is_good({**results[0], "runs": 2})
    assert not is_good({**results[0], "differing": ["one"]}) and not is_good({**results[0], "left": ["one"]})
