"""The taxonomies: TOML files of this package, read and checked once.

One table per label: `id`, `name`, and phrases by strength (`strong`, `weak`, `field`, `type`), one a line.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from curation.labels.lexicon import Entry, Lexicon
from schemas.errors import MedqrelsError

STRENGTHS = ("strong", "weak", "view", "noun", "vague", "field", "type", "animal", "person")
"""strong: names the label; weak: hints at it; view: names it, but for images that are told to be of another;
noun: names it as the head of a phrase, else hints at it; vague: a noun that does so only where its clause
names nothing else; field: names of journals and subjects; type: article-type; animal and person: who a case
report is about."""
WORDS = ("strong", "weak", "view", "noun", "vague")
_ID = re.compile(r"[a-z][a-z0-9_]*$")
_KEYS = frozenset({"id", "name", "parent", "kind", "m3retrieve", "imageclef", "words_of", *STRENGTHS})
KINDS = ("organ", "discipline", "age", "")


@dataclass(frozen=True, slots=True)
class Entity:
    """One label of a taxonomy."""

    id: str
    name: str
    parent: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """One facet's labels in order and their phrases."""

    facet: str
    labels: Mapping[str, Entity]
    entries: tuple[Entry, ...]
    words: Lexicon
    fields: Lexicon
    types: Lexicon
    beings: Lexicon


def read_data(name: str) -> dict[str, Any]:
    """One TOML file of this package."""
    return tomllib.loads(resources.files("curation.labels").joinpath(name).read_text("utf-8"))


def phrases(text: str) -> tuple[str, ...]:
    """Phrases of one block: separated by commas or line ends."""
    return tuple(filter(None, (" ".join(part.split()) for part in re.split(r"[,\n]", text))))


def parse(facet: str, data: Mapping[str, Any]) -> Taxonomy:
    """A taxonomy out of what a TOML file says.

    Raises:
        MedqrelsError: an id twice or malformed, an unknown key or parent, a phrase twice in one label.
    """
    labels: dict[str, Entity] = {}
    entries: list[Entry] = []
    for table in data.get("label", ()):
        entity = _entity(facet, table)
        if entity.id in labels:
            raise MedqrelsError(f"{facet}: label {entity.id} is declared twice")
        if entity.parent and entity.parent not in labels:
            raise MedqrelsError(f"{facet}: {entity.id} stands under {entity.parent}, which is not above it")
        labels[entity.id] = entity
        seen: set[tuple[bool, str]] = set()
        for strength in STRENGTHS:
            for phrase in phrases(table.get(strength, "")):
                key = (
                    (strength in WORDS, phrase)
                    if strength in (*WORDS, "field")
                    else (False, f"{strength}:{phrase}")
                )
                if key in seen:
                    raise MedqrelsError(f"{facet}: {entity.id} names {phrase!r} twice")
                seen.add(key)
                entries.append(Entry(entity.id, strength, phrase))
    if not labels:
        raise MedqrelsError(f"{facet}: no label")
    lexicons = (
        Lexicon(entry for entry in entries if entry.strength in strengths)
        for strengths in (WORDS, ("field",), ("type",), ("animal", "person"))
    )
    return Taxonomy(facet, labels, tuple(entries), *lexicons)


def _entity(facet: str, table: Mapping[str, Any]) -> Entity:
    if unknown := sorted(set(table) - _KEYS):
        raise MedqrelsError(f"{facet}: unknown key {unknown[0]!r} in label {table.get('id', '?')}")
    entity = Entity(
        id=str(table.get("id", "")),
        name=str(table.get("name", "")),
        parent=str(table.get("parent", "")),
        kind=str(table.get("kind", "")),
    )
    if not _ID.match(entity.id) or not entity.name:
        raise MedqrelsError(f"{facet}: a label needs an id of letters, digits and _ and a name: {entity}")
    if entity.kind not in KINDS:
        raise MedqrelsError(f"{facet}: {entity.id}: kind is none of {KINDS}: {entity.kind!r}")
    return entity


@functools.lru_cache(maxsize=8)
def load(facet: str) -> Taxonomy:
    """The taxonomy of a facet from `<facet>.toml` beside this module.

    Raises:
        MedqrelsError: see `parse`; or `words_of` names no specialty.
    """
    data = read_data(f"{facet}.toml")
    if any("words_of" in table for table in data["label"]):
        borrow(data, {table["id"]: table for table in read_data("specialty.toml")["label"]})
    return parse(facet, data)


def borrow(data: Mapping[str, Any], specialties: Mapping[str, Mapping[str, Any]]) -> None:
    """Add the strong phrases of the specialties that a label names in `words_of` to its own.

    Raises:
        MedqrelsError: there is no such specialty.
    """
    for table in data["label"]:
        own = dict.fromkeys(phrases(table.get("strong", "")))
        weak = set(phrases(table.get("weak", "")))
        for name in phrases(table.get("words_of", "")):
            if name not in specialties:
                raise MedqrelsError(f"{table['id']}: words_of names {name}, which is no specialty")
            own |= dict.fromkeys(item for item in phrases(specialties[name]["strong"]) if item not in weak)
        table["strong"] = "\n".join(own)
