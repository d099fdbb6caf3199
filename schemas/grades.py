"""What each grade of each task means, and why a pair may be excluded from judgement."""

from __future__ import annotations

GRADES: dict[str, dict[int, str]] = {
    "visual_context": {
        2: "The passage cites the query's figure by cross-reference or by an unambiguous figure number.",
        1: "Books only: the passage stands in the same section as the figure.",
    },
    "case_study": {
        2: "Another patient's case with the same principal diagnosis.",
        1: "Another patient's case, its principal diagnosis one or two hops up or down, or a near sibling.",
    },
    "summary": {2: "The abstract is that of the article the query was made of."},
    "image_search": {
        2: "The query's own image; of a case's story, every image that shows its patient.",
        1: "Another image of the same case, of the same modality and the same region of the body.",
    },
}
"""task -> score -> definition (after M3Retrieve, arXiv 2510.06888, section on visual context retrieval)."""

EXCLUSIONS: dict[str, str] = {
    "held_elsewhere": "The document would be a positive, but rests on what another task or split holds.",
    "own_article": "The document is from the query's own article and was not judged.",
    "short_passage": "The passage cites the figure but is too short to be an answer.",
    "many_figures": "The passage cites the figure among several others, so it is not about this one.",
    "self_match": "The document repeats the query's own words, or shows its picture.",
    "own_case": "The document is the case the query was made of.",
    "same_article": "Another patient of the query's own article; such pairs are labelled and scored apart.",
    "same_patient": "Perhaps the query's own patient: shares long stretches of text, or author, age and sex.",
    "related_diagnosis": "The diagnoses are related, but not closely enough for a grade.",
    "mentions_target": "The case names the query's diagnosis, but not as its own principal diagnosis.",
    "other_language": "The article's own abstract in another language.",
    "other_version": "An abstract of the same article in another version or repository.",
    "own_family": "The abstract of an article linked with the query's: companion, correction, comment.",
    "near_duplicate": "The abstract shares long stretches of text with the query's own one.",
    "same_case_image": "Another image of the same case, its modality or region another or not told.",
    "cannot_judge": "People who were asked could not judge the pair.",
    "rule_under_floor": "Review found the rule that labelled the pair too imprecise, and nobody judged it.",
    "near_copy": "The document is nearly the same as a positive one, and was not judged itself.",
    "near_image": "An image that looks nearly like a positive one; whether it is a copy was not judged.",
}
"""exclusion code -> definition. Unjudged is not negative."""
