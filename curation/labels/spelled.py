"""Captions with the article's own short forms of imaging methods written out: "US" for ultrasonography.

A caption is short because the text has said it before: "ultrasonography (US)". Only short forms are written
out whose long form ends with the name of a modality and which name none themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from curation.concepts.abbreviations import definitions
from curation.labels.taxonomy import load


def methods_in(texts: Iterable[str]) -> dict[str, str]:
    """Short form -> long form of the methods that texts define, each as it is defined first.

    Args:
        texts: passages and captions of one article.
    """
    words = load("modality").words
    found: dict[str, str] = {}
    for item in (item for text in texts for item in definitions(text)):
        if item.short not in found and _names_modality(item.long) and not words.find(item.short):
            found[item.short] = item.long
    return found


def _names_modality(long: str) -> bool:
    """Whether a long form ends with a phrase that names a modality: "endoscopic dissection" is no image."""
    hits = load("modality").words.find(long)
    return (
        bool(hits) and hits[-1].end == len(long) and any(one.strength == "strong" for one in hits[-1].entries)
    )


def spelled(caption: str, starts: Sequence[int], methods: Mapping[str, str]) -> tuple[str, list[int]]:
    """A caption with its methods written out, and where its panels begin then.

    Args:
        caption: the caption without its label.
        starts: offsets of its panels' sub-captions.
        methods: long form by short form.
    """
    if not methods:
        return caption, list(starts)
    names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(methods, reverse=True)))})(?!\w)")
    written = names.sub(lambda found: methods[found.group()], caption)
    longer = [
        (found.start(), len(methods[found.group()]) - len(found.group())) for found in names.finditer(caption)
    ]
    return written, [start + sum(by for at, by in longer if at < start) for start in starts]
