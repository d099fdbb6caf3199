"""Words for counts, one way for every message and page."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 item`, `2,000 items`, `3 queries`; `many` where the plural is irregular."""
    if not many:
        many = f"{one[:-1]}ies" if one.endswith("y") and one[-2:-1] not in set("aeiou") else f"{one}s"
    return f"{count:,} {one if count == 1 else many}"
