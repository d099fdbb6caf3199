"""Why a pair of any task may be excluded from judgement; a task declares those of its own."""

from __future__ import annotations

EXCLUSIONS: dict[str, str] = {
    "held_elsewhere": "The document would be a positive, but rests on what another task or split holds.",
    "own_article": "The document is from the query's own article and was not judged.",
    "self_match": "The document repeats the query's own words, or shows its picture.",
    "cannot_judge": "People who were asked could not judge the pair.",
    "rule_under_floor": "Review found the rule that labelled the pair too imprecise, and nobody judged it.",
    "near_copy": "The document is nearly the same as a positive one, and was not judged itself.",
    "own_case": "The document is the case the query was made of.",
    "same_article": "Another patient of the query's own article; such pairs are labelled and scored apart.",
    "same_patient": (
        "Perhaps the query's own patient: shares long stretches of text, or author, age and sex."
    ),
    "related_diagnosis": (
        "The diagnoses are related, but not closely enough for a grade, or only as lesions of one kind in "
        "different body systems."
    ),
    "middle": "Judge or annotators found the support of the pair neither clear nor absent.",
    "unstable": "The judge found otherwise when the same pair was shown in another order.",
    "other_passage_of_cited": (
        "The answer names the document's article, but not this passage, and nobody judged it."
    ),
    "mentions_target": "The case names the query's diagnosis, but not as its own principal diagnosis.",
}
"""exclusion code -> definition. Unjudged is not negative."""
UNDECIDED = ("middle", "unstable")
"""Codes of pairs that a judge could not decide: the verdict of people on one counts instead."""
