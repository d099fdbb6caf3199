"""Why a row is new, gone or another: a closed set."""

from __future__ import annotations

import enum


class Why(enum.StrEnum):
    """Reasons of a change, told of every row."""

    NEW_ARTICLE = "new_article"
    ARTICLE_VERSION = "article_version"
    TEXT_CHANGED = "text_changed"
    WITHDRAWAL = "withdrawal"
    REVIEW = "review"
    RULE_VERSION = "rule_version"
    SELECTION = "selection"
    PARTITION = "partition"
    METADATA = "metadata"


MEANINGS: dict[Why, str] = {
    Why.NEW_ARTICLE: "its article is new in the release",
    Why.ARTICLE_VERSION: "its article is there in another version",
    Why.TEXT_CHANGED: "its text, title or image is another",
    Why.WITHDRAWAL: "it was withdrawn, or what it rests on was",
    Why.REVIEW: "annotators judged the pair, or left the query no positive",
    Why.RULE_VERSION: "the task's own stages have another version or other settings",
    Why.SELECTION: "the same rules took it in or left it out",
    Why.PARTITION: "it stands in another split",
    Why.METADATA: "what is told of it differs: facets, licence, rule, status",
}
WITHDRAWALS = ("retracted", "withdrawn", "reported", "names_a_patient", "overlap_withdrawn", "named_in_spec")
"""Reasons in provenance/drops that mean withdrawal."""
