"""Third-party statements in captions: words that say a figure was taken from elsewhere.

They count whatever the article's licence says; a patient's permission to publish is no such statement.
"""

from __future__ import annotations

import re

MAX_STATEMENT = 300

_STATEMENT = re.compile(
    r"\b(?:with|by)\s+(?:the\s+|kind\s+|written\s+|prior\s+|copyright\s+)*permission\b(?!\s+(?:of|from|by)\s+(?:the\s+|his\s+|her\s+"
    r"|their\s+|this\s+|our\s+|both\s+|all\s+)*(?:patient|parent|famil|participant|subject|mother|father|guardian|volunteer|individual|model))"
    r"|\b(?:reproduced|reprinted|republished|adapted|modified|redrawn|reused)\b[^.]{0,160}?\bpermission\b"
    r"|\b(?:reproduced|reprinted|republished|redrawn|adapted)\s+(?:and\s+modified\s+)?(?:from|after|by)\b"
    # "modified from [39]", "taken from Smith et al.", but not "biopsies taken from Patient 2"
    r"|\b(?:taken|modified|borrowed)\s+from\s+(?:\[|\(?refs?\b|(?-i:[A-Z][\w’'-]+)(?:\s+et\s+al|\s+(?:and|&)\s"
    r"|,?\s*\(?(?:19|20)\d\d\b|\s*\[))"
    r"|\bcourtesy\s+of\b|\bkindly\s+provided\s+by\b"
    r"|©|\bcopyright\s+(?:\d{4}|of\b|by\b|\(c\))"
    r"|\b(?:photo(?:graph)?|image|picture|figure)?\s*credits?\s*(?:[a-z]\s*)?:"
    # credit lines in capitals, as magazines set them: "ILLUSTRATION: A NAME"
    r"|\b(?-i:ILLUSTRATION|PHOTO(?:GRAPH)?|IMAGE)S?:"
    r"|\b(?:reproducid[ao]|reproduzid[ao]|adaptad[ao])\s+(?:con|com)\s+perm|\bcortes[ií]a\s+d",
    re.IGNORECASE,
)
# One of these is in every statement: most captions are dismissed by a substring search.
_WORDS = (
    "permission", "reprint", "reprodu", "republished", "redrawn", "adapted", "adaptad", "courtesy", "kindly",
    "©", "copyright", "credit", "cortes",
)  # fmt: skip
_CAPITALS = ("ILLUSTRATION", "PHOTO", "IMAGE")
_TAKEN = ("taken", "modified", "borrowed")
_TAKEN_FROM = re.compile(r"taken\s+from\s|modified\s+from\s|borrowed\s+from\s")
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bal\.)(?<!\bDr\.)(?<!\bProf\.)(?<!\bRef\.)(?<!\bFig\.)(?<!\b[A-Z]\.)\s+(?=[A-Z(\[©])"
)


def _may_hold_statement(caption: str) -> bool:
    lowered = caption.lower()
    return (
        any(map(lowered.__contains__, _WORDS))
        or any(map(caption.__contains__, _CAPITALS))
        or (any(map(lowered.__contains__, _TAKEN)) and _TAKEN_FROM.search(lowered) is not None)
    )


def third_party_statement(caption: str) -> str:
    """The sentence of a caption that says the figure is someone else's, '' when there is none."""
    found = _STATEMENT.search(caption) if _may_hold_statement(caption) else None
    if not found:
        return ""
    start = 0
    for end in _SENTENCE_END.finditer(caption):
        if end.start() >= found.end():
            return caption[start : end.start()][:MAX_STATEMENT]
        if end.end() <= found.start():
            start = end.end()
    return caption[start:][:MAX_STATEMENT] if found.end() - start <= MAX_STATEMENT else found.group()
