"""The page's words for verdicts, statuses, dimensions and roles, and how it shows hostile text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from schemas.audit import RuleResult

LONGEST_ID = 160
LONGEST_NOTE = 600


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """A verdict, what it means, and what to do about it."""

    word: str
    meaning: str
    action: str


VERDICTS = {
    "clean": VerdictWords(
        "Clean",
        "Every rule ran, every planted defect was found, and no rule found an error.",
        "Compare the content hash below with that of your copy; then this page speaks for it.",
    ),
    "partial": VerdictWords(
        "Clean as far as covered",
        "No rule found an error, but some rules need files that were not given, so what they would check is "
        "not proven.",
        "Run the audit again with what the gaps below name, for instance all tasks of the release at once.",
    ),
    "findings": VerdictWords(
        "Findings",
        "At least one rule found an error.",
        "Do not use or publish these files as they are: correct the errors below and run the audit again.",
    ),
    "incomplete": VerdictWords(
        "Incomplete",
        "No rule found an error, but not everything that should have run did. Nothing is proven.",
        "Remove the causes named below and run the audit again.",
    ),
    "invalid": VerdictWords(
        "Invalid",
        "The audit failed its own test: a defect it planted itself was not found. No result on this page "
        "counts, and no zero either.",
        "Do not rely on this page. Have the rules marked “unproven” repaired, then run the audit again.",
    ),
}
STATUSES = {
    "error": "the rule found violations that must not be there",
    "warning": "the rule found something a person should look at; it is not an error for this task",
    "unproven": "a defect planted for this rule was not found, so what it says is worth nothing",
    "not run": "the rule should have run and could not; it never counts as passed",
    "declared": "found and stated by the publisher; it forbids publication, not local use",
    "not covered": "the rule needs what these files do not hold, such as a sibling task",
    "not asked": "the rule needs an input that was not named, such as another benchmark",
    "not applicable": "the rule has nothing to say about this task",
    "passed": "the rule ran, found nothing, and finds what is planted for it",
}
"""Every word a rule's status is shown as, most pressing first."""
DIMENSIONS = {
    "target_concept": "Target concepts",
    "query": "Queries",
    "article": "Source articles",
    "patient": "Patients",
    "image_family": "Image families",
}
ROLES = {"audited": "audited", "sibling": "sibling task", "against": "other benchmark"}
KINDS = {
    "release": "medqrels release",
    "mteb": "MTEB or Hugging Face layout",
    "beir": "BEIR layout",
    "jsonl": "file of records",
    "images": "images",
    "hashlist": "hash list, without texts",
}


TABLES = {
    "queries": "Queries",
    "corpus": "Documents",
    "qrels": "Judged pairs",
    "excluded": "Excluded pairs",
    "sources": "Source articles",
}
"""Tables whose row counts stand at the head of the page (_verdict.html.jinja)."""


def state(result: RuleResult) -> str:
    """The word shown for a rule's status; a failed warning is a warning, not an error."""
    if result.status == "failed":
        return "warning" if result.severity == "warn" else "error"
    return result.status.replace("_", " ")


def breakable(text: str) -> Markup:
    """Escaped text that may break after the separators of names."""
    parts = re.split(r"(?<=[_/@#])(?=.)", text, flags=re.DOTALL)
    return Markup("<wbr>").join(escape(part) for part in parts)


def number(value: object) -> str:
    """A count with thousands separators; anything else as it is."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def visible(value: object) -> str:
    """Text with control, invisible and direction-changing characters written out: none can hide."""
    text = value if isinstance(value, str) else str(value)
    return "".join(
        f"\\u{ord(character):04x}" if _is_deceptive(ord(character)) else character for character in text
    )


def shortened(value: object, longest: int = LONGEST_ID) -> str:
    """The beginning of a long text, made visible; what was cut is counted."""
    text = value if isinstance(value, str) else str(value)
    cut = f"… ({len(text) - longest:,} more characters)" if len(text) > longest else ""
    return visible(text[:longest]) + cut


def _is_deceptive(code: int) -> bool:
    return (
        (code < 32 and code not in (9, 10))
        or 0x7F <= code < 0xA0
        or code in (0x200B, 0xFEFF)
        or 0x2028 <= code < 0x202F
        or 0x2060 <= code < 0x2070
        or 0xD800 <= code < 0xE000
        or 0xFFF9 <= code < 0xFFFC
        or 0xE0000 <= code < 0xE1000
    )
