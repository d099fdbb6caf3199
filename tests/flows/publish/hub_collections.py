"""Collections as the Hub keeps them, in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_LISTED_ITEMS = 4
"""A list of collections shows no more items of each."""


@dataclass
class Collection:
    """One collection."""

    slug: str
    title: str
    owner: str
    is_private: bool
    description: str = ""
    items: list[dict[str, Any]] = field(default_factory=list)

    def add(self, id: str, type: str, note: str) -> None:
        """Add an item at the end."""
        shown = {"_id": f"{len(self.items):024x}", "id": id, "type": type, "position": len(self.items)}
        self.items.append(shown | ({"note": {"text": note, "html": note}} if note else {}))

    def shown(self) -> dict[str, Any]:
        """As the Hub shows it."""
        return {
            "slug": self.slug,
            "title": self.title,
            "owner": {"name": self.owner, "type": "org"},
            "description": self.description,
            "items": self.items,
            "lastUpdated": "2026-11-25T00:00:00.000Z",
            "position": 0,
            "private": self.is_private,
            "theme": "blue",
            "upvotes": 0,
        }


@dataclass
class Collections:
    """All of them, by slug; a second one of the same title is made without complaint, as the Hub does."""

    held: dict[str, Collection] = field(default_factory=dict)

    def create(self, title: str, namespace: str, private: bool, description: str = "") -> Collection:
        """Make one."""
        name = "-".join("".join(letter if letter.isalnum() else " " for letter in title.lower()).split())
        slug = f"{namespace}/{name}-{len(self.held):024x}"
        self.held[slug] = Collection(slug, title, namespace, private, description)
        return self.held[slug]

    def listed(self, owner: str, *, sees_private: bool) -> list[dict[str, Any]]:
        """Those of an owner, with their first items."""
        found = [
            one for one in self.held.values() if one.owner == owner and (sees_private or not one.is_private)
        ]
        listed = [one.shown() | {"items": one.items[:_LISTED_ITEMS]} for one in found]
        for shown in listed:
            del shown["position"]  # the client counts
        return listed
