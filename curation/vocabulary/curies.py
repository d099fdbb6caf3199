"""CURIEs: one prefix per vocabulary, whatever each source calls it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

_CURIE = re.compile(r"([A-Za-z][A-Za-z0-9_.\-]*):(\S+)")
_DATED = re.compile(r"_\d{4}_\d{2}_\d{2}$")
_IRI = (
    (re.compile(r"https?://purl\.obolibrary\.org/obo/([A-Za-z]+)_(\S+)"), None),
    (re.compile(r"https?://identifiers\.org/([A-Za-z0-9.\-]+)[/:](\S+)"), None),
    (re.compile(r"https?://(?:linkedlifedata\.com/resource/umls/id|uts\.nlm\.nih\.gov/.*)/(C\d{7})"), "UMLS"),
    (re.compile(r"https?://id\.nlm\.nih\.gov/mesh/(\S+)"), "MESH"),
)


@functools.cache
def _prefixes() -> Mapping[str, str]:
    return tomllib.loads((Path(__file__).parent / "prefixes.toml").read_text("utf-8"))


@functools.lru_cache(maxsize=1_000)
def normalise_prefix(prefix: str) -> str:
    """The prefix we write: UMLS_CUI is UMLS, SNOMEDCT_US_2023_03_01 is SNOMEDCT_US; unknown ones stay."""
    bare = _DATED.sub("", prefix)
    return _prefixes().get(bare.lower(), bare)


def curie(prefix: str, code: str) -> str:
    """A CURIE of a prefix as some source writes it and a code with or without that prefix."""
    wanted = normalise_prefix(prefix)
    head, _, tail = code.partition(":")
    return f"{wanted}:{tail if tail and normalise_prefix(head) == wanted else code}"


def normalise(text: str) -> str | None:
    """A CURIE or a known kind of IRI as our CURIE, None when it is neither (a web page, free text)."""
    for pattern, prefix in _IRI:
        if found := pattern.fullmatch(text):
            return curie(*found.groups()) if prefix is None else f"{prefix}:{found.group(1)}"
    found = _CURIE.fullmatch(text)
    if found is None or found.group(2).startswith("//"):
        return None
    return curie(found.group(1), found.group(2))
