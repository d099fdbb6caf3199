"""Compares a published audit.json with an audit of the same files made now, and writes reports as bytes.

A report is a function of the files and of the audit's version, so a true audit.json differs in nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.audit import AuditReport
from schemas.errors import UsageError
from schemas.record import columns, to_dict

_LONGEST = 200
_KEYS: Mapping[str, tuple[str, ...]] = {
    "rules": ("rule",),
    "canaries": ("rule", "canary"),
    "inputs": ("role", "name"),
    "matrix": ("dimension", "one", "other"),
    "coverage": ("compared_with", "unit"),
}
"""Lists whose items are known by name: differences are told of the item, not of its place."""
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a stated report and the one made now differ; `where` reads `rules.schema.found`."""

    where: str
    stated: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: stated {self.stated}, now {self.found}"


def to_bytes(report: AuditReport) -> bytes:
    """The report as audit.json: the same report gives the same bytes."""
    text = json.dumps(to_dict(report), indent=1, sort_keys=True, ensure_ascii=False)
    return (text + "\n").encode("utf-8", "surrogatepass")


def read_stated(data: bytes, file: str = "audit.json") -> dict[str, Any]:
    """Parse an audit.json.

    Args:
        data: the file's bytes.
        file: its name, for the error.

    Raises:
        UsageError: it is no report, or one of another version of the audit.
    """
    hint = "name the audit.json that was published with the files"
    try:
        stated = json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = type(error).__name__ if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"not an audit report: {reason}", file=file, hint=hint) from error
    names = {name for name, _, _ in columns(AuditReport)}
    if not isinstance(stated, dict) or not {"version", "release_hash", "rules", "inputs"} <= set(stated):
        raise UsageError("not an audit report: no verdict on any files", file=file, hint=hint)
    version = AuditReport.__dataclass_fields__["version"].default
    if stated["version"] != version:
        raise UsageError(
            f"the report is of audit version {stated['version']!r}; this is version {version}",
            file=file,
            hint="verify it with the medqrels version that wrote it, or audit the files anew",
        )
    if set(stated) != names:
        unlike = ", ".join(sorted(set(stated) ^ names))
        raise UsageError(f"not a report of this version: fields differ: {unlike}", file=file, hint=hint)
    return stated


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def verify(stated: Mapping[str, Any], report: AuditReport) -> list[Difference]:
    """What a stated report says that the files do not bear out; empty when it is true.

    When the report is of other files, that is said first, and the rest is still compared.

    Args:
        stated: a parsed audit.json, see `read_stated`.
        report: the audit of the files at hand, with the same siblings and other benchmarks.
    """
    now: dict[str, Any] = json.loads(to_bytes(report).decode("utf-8", "surrogatepass"))
    found: list[Difference] = []
    if stated.get("release_hash") != now["release_hash"]:
        hashes = _pair(stated.get("release_hash"), now["release_hash"])
        found.append(Difference("release_hash (the report is of other files)", *hashes))
    found += _of("inputs", stated.get("inputs"), now["inputs"])
    for name in sorted(set(stated) | set(now)):
        if name not in ("inputs", "release_hash"):
            found += _of(name, stated.get(name, _Absent), now.get(name, _Absent))
    return found


class _Absent:
    """Stands for a value that one side does not have; JSON has its own null."""


def _of(where: str, stated: Any, now: Any) -> Iterator[Difference]:
    """Differences below one place, in a fixed order."""
    if type(stated) is type(now) and stated == now:
        return
    if isinstance(stated, dict) and isinstance(now, dict):
        for name in sorted(set(stated) | set(now)):
            yield from _of(f"{where}.{name}", stated.get(name, _Absent), now.get(name, _Absent))
    elif isinstance(stated, list) and isinstance(now, list):
        yield from _of_lists(where, stated, now)
    else:
        yield Difference(where, *_pair(stated, now))


def _of_lists(where: str, stated: Sequence[Any], now: Sequence[Any]) -> Iterator[Difference]:
    keys = _KEYS.get(where.rpartition(".")[2])
    if keys is not None:
        one, other = _named(stated, keys), _named(now, keys)
        if one is not None and other is not None:
            for name in dict.fromkeys((*other, *one)):
                yield from _of(f"{where}.{name}", one.get(name, _Absent), other.get(name, _Absent))
            if list(one) != list(other) and set(one) == set(other):
                yield Difference(where, *_pair(list(one), list(other)))
            return
    for place in range(max(len(stated), len(now))):
        one_item = stated[place] if place < len(stated) else _Absent
        other_item = now[place] if place < len(now) else _Absent
        yield from _of(f"{where}[{place}]", one_item, other_item)


def _named(items: Sequence[Any], keys: Sequence[str]) -> dict[str, Any] | None:
    """Items by name; None when one has no name or two have the same."""
    found: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, dict) or any(not isinstance(item.get(key), str) for key in keys):
            return None
        found[" / ".join(item[key] for key in keys)] = item
    return found if len(found) == len(items) else None


def _pair(stated: Any, now: Any) -> tuple[str, str]:
    return _shown(stated), _shown(now)


def _shown(value: Any) -> str:
    text = _NOTHING if value is _Absent else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
