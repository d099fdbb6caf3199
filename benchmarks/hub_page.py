"""The part of benchmarks/README.md on kills and faults of a publish."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.measure import read_result


def section() -> list[str]:
    """Lines of Markdown."""
    result = read_result("hub_faults")
    kills, faults = result["kills"], result["faults"]
    lines = [
        "## kill -9 and faults during a publish",
        "",
        "A release of two tasks, first and next version, published to a loopback Hub over LFS and over xet. "
        f"{kills['count']} publishes were killed at a drawn request, with or without its effect, and run "
        f"again; in {faults['count']} one drawn request went wrong. Looked at after every effect: half "
        f"releases {result['half']}. At the end: two commits of one release {result['doubled']}, another "
        f"state than an undisturbed publish leaves {result['differing']}. In order: {kills['good']} of "
        f"{kills['count']} kills, {faults['good']} of {faults['count']} faults, in {result['seconds']:,} s. "
        "`python -m benchmarks.hub_faults`",
        "",
        "| what went wrong | publishes |",
        "|---|---|",
        f"| kill -9 over {_listed(kills['by_transfer'])} | {kills['count']} |",
    ]
    lines += [f"| {_named(kind)} | {count} |" for kind, count in faults["by_kind"].items()]
    lines += ["", f"Endpoints of the kills: {_listed(kills['by_at'])}."]
    lines += [f"Endpoints of the faults: {_listed(faults['by_at'])}.", ""]
    return lines


def _named(kind: str) -> str:
    status, _, seconds = kind.partition(" ")
    words = {"reset": "connection dropped before the effect", "lost": "reply lost after the effect"}
    return words.get(kind, f"{status}, Retry-After {seconds} s" if seconds else f"status {status}")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
