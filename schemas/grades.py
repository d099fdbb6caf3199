"""What each grade of each task means, and why a pair may be excluded from judgement."""

from __future__ import annotations

GRADES: dict[str, dict[int, str]] = {
    "visual_context": {
        2: "The passage cites the query's figure by cross-reference or by an unambiguous figure number.",
        1: "Books only: the passage stands in the same section as the figure.",
    },
}
"""task -> score -> definition (after M3Retrieve, arXiv 2510.06888, section on visual context retrieval)."""

EXCLUSIONS: dict[str, str] = {
    "own_article": "The passage is from the query's own article and was not judged.",
    "short_passage": "The passage cites the figure but is too short to be an answer.",
    "many_figures": "The passage cites the figure among several others, so it is not about this one.",
    "self_match": "The passage repeats the query's own words.",
}
"""exclusion code -> definition. Unjudged is not negative."""
