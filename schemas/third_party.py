"""Words that say a figure or table was taken from elsewhere: it is then not its article's to license.

They count whatever the article's licence says; a patient's permission to publish is no such statement.
"""

from __future__ import annotations

import re

MAX_STATEMENT = 300

_NAMED = r"(?-i:[A-Z])[\w’'-]+"
_CITED = rf"(?:the\s+)?(?:\[\s*\d|\(?refs?\b|references?\b|https?:|www\.|{_NAMED}\s+et\s+al)"
"""A work by its place in the list of references, its authors or its address."""
_SOURCE = (
    rf"(?:{_CITED}|{_NAMED}(?:\s+(?:and|&)\s|,?\s*\(?(?:19|20)\d\d\b|\s*\[)"
    r"|(?:the\s+)?[^.]{0,60}\b(?:website|web ?page|database|atlas|textbook|article|publication|paper)\b)"
)
_SHOWN = (
    r"(?:the\s+)?(?:figures?|images?|photo\w*|pictures?|illustrations?|diagrams?|schem\w+|maps?|drawings?"
    r"|parts?|panels?)"
)
_PERMISSION = re.compile(
    r"\b(?:re)?(?:produced|printed|published|used|adapted|modified|taken|drawn|released"
    r"|reprodu[zc]id[ao]s?|adaptad[ao]s?|repris)\b"
    r"[^.;]{0,120}?\b(?:permission|copyright|courtesy|permiss[ãa]o|permiso|autoriza[cç][ãi][oó]n?"
    r"|autorisation|license from)\b"
    r"|\b(?:with|by)\s+(?:the\s+|kind\s+|written\s+|prior\s+|copyright\s+)*permission\b",
    re.IGNORECASE,
)
_BORROWED = re.compile(
    r"\b(?:re(?:produced|printed|published|drawn)|adapted|modified|borrowed)\s+(?:and\s+\w+\s+)?(?:from|after)\s+"
    r"(?!(?:the |a |an |our |each |this |these |\d+ |one |two |three )?(?:patient|left|right|same|biops"
    r"|tissue|specimen|surg|tumou?r|lesion|skin|video|CT|MRI))"
    # images are taken and molecules extracted from much that nobody owns: only from a work
    rf"|\b(?:taken|extracted)\s+from\s+{_SOURCE}"
    # whatever was done to it, when nothing else is said: "(Retrieved from [65])", "Part A is from Roe et al."
    rf"|(?:^|(?<=[.;(])|(?<=[.;]\s))(?:{_SHOWN}(?:\s[^.;()]{{0,40}}?)??\s+)?(?:\w+(?:ed|en)\s+)?from\s+{_CITED}"
    r"|\b(?:adapted|modified|reproduced)\b[^.]{0,60}\bfrom\b[^.]{0,60}\b(?:website|database|atlas)\b"
    r"|\b(?:adaptad|reproduzid|reproducid|modificad|extraíd)[ao]s? (?:de|do|da)\b|\badapté[es]* de\b"
    r"|\bmodifiziert nach\b",
    re.IGNORECASE,
)
_CREDIT = re.compile(
    r"\bcourtesy\s+of\b|\bcortes[ií]a\s+d|\bkindly\s+provided\s+by\b|\bgetty images\b|\bshutterstock\b"
    r"|\bcredits?\s*(?:[a-z]\s*)?:"
    # in capitals, as magazines set them: "ILLUSTRATION: A NAME"
    r"|\b(?-i:ILLUSTRATION|PHOTO(?:GRAPH)?|IMAGE)S?:",
    re.IGNORECASE,
)
_HOLDER = (
    r"(?:the\s)?(?:\d{4},?\s*)?[^.]{0,40}?\b(?:elsevier|springer|wiley|nature|wolters|oxford|lippincott|taylor|sage"
    r"|karger|thieme|lancet|american|massachusetts|society|association|academy|press)\b"
)
_COPYRIGHT = re.compile(
    r"(?:©|\bcopyright\s+(?=\d{4}|of\b|by\b|\(c\))|\(c\)(?=\s*(?:19|20)\d\d))"
    # an article may say its own again below each figure
    r"(?!\s*(?:\d{4},?\s*)?(?:the\s)?authors?\b)"
    rf"(?:\s*{_HOLDER}|(?!.{{0,200}}\b(?:licen[sc]ee?|licen[cç][ai]a?|creative commons|open access)\b))",
    re.IGNORECASE,
)
_STATEMENTS: tuple[tuple[re.Pattern[str], tuple[str, ...], tuple[str, ...]], ...] = (
    (_PERMISSION, ("permi", "courtesy", "copyright", "autori", "license from"), ("",)),
    (
        _BORROWED,
        ("from", "after", "adapta", "adapté", "reprodu", "modifi", "extraíd"),
        (
            *("repro", "reprin", "republ", "redraw", "adapt", "modif", "borrow", "taken", "extra"),
            *("[", "ref", "http", "www.", "et al"),
        ),
    ),
    (
        _CREDIT,
        ("courtesy", "cortes", "kindly", "credit", "getty", "shutterstock", "illustration", "photo", "image"),
        ("",),
    ),
    (_COPYRIGHT, ("copyright", "©", "(c)"), ("",)),
)
"""With each pattern words, and others, of which one each is in everything that it matches; most captions have
none."""
_PATIENT = re.compile(
    r"\b(?:patient|parent|famil|guardian|relative|mother|father|subject|participant|volunteer)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\bal\.)(?<!\bDr\.)(?<!\bProf\.)(?<!\bRef\.)(?<!\bFig\.)(?<!\b[A-Z]\.)\s+(?=[A-Z(\[©])"
)


def third_party_statement(text: str) -> str:
    """The sentence of a caption, note or rights statement that names another source, '' when there is none.

    Args:
        text: as printed.
    """
    lowered = text.lower()
    for pattern, words, others in _STATEMENTS:
        if any(map(lowered.__contains__, words)) and any(map(lowered.__contains__, others)):
            for found in pattern.finditer(text):
                after = text[found.end() : found.end() + 40].partition(".")[0]
                if not _PATIENT.search(found.group() + after):
                    return _sentence(text, found)
    return ""


def _sentence(text: str, found: re.Match[str]) -> str:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if end.start() >= found.end():
            return text[start : end.start()][:MAX_STATEMENT]
        if end.end() <= found.start():
            start = end.end()
    return text[start:][:MAX_STATEMENT] if found.end() - start <= MAX_STATEMENT else found.group()
