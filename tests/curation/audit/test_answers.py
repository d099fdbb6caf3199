"""No query holds its own answer: long ones are errors, short ones of rare words are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.audit.rules.answers import RULES
from tests.curation.audit.small import check, dataset, named, planted, rule_of, texts

SHORT = rule_of(RULES, "short_answers_apart")


@pytest.mark.parametrize(
    ("query", "answer", "is_found"),
    [
        ("A man with a new murmur. It was endocarditis.", "Endocarditis", True),
        ("Her mother had polymyalgia rheumatica; her own hips are stiff.", "polymyalgia rheumatica", True),
        ("A man with a new murmur and fever.", "Endocarditis", False),
        ("Endocarditides of cattle are rare.", "Endocarditis", False),  # another word
        ("Which test? Gout is likely.", "Gout", False),  # too short to be looked for
        ("Does the pressure increase or decrease in heart failure?", "increase", False),  # in every article
        ("What do cells make of amino acids? Proteins, or sugars?", "Proteins", False),
    ],
)
def test_a_short_answer_is_looked_for_where_its_words_are_rare(
    tmp_path: Path, query: str, answer: str, is_found: bool
) -> None:
    tables = {"queries": texts(("q1", query)), "answers": [{"query-id": "q1", "answer": answer}]}
    found = check(SHORT, dataset(tmp_path, tables), tmp_path)
    assert (found.status == "failed") is is_found
    assert named(found) == ({"q1"} if is_found else set()) and found.severity == "warn"


def test_every_planted_defect_is_found(tmp_path: Path) -> None:
    queries = texts(("q1", "A man with a new murmur and fever. What is next?"), ("q2", "Which crystals?"))
    answers = [{"query-id": "q1", "answer": "Cultures"}, {"query-id": "q2", "answer": "Monosodium urate"}]
    subject = dataset(tmp_path, {"queries": queries, "answers": answers})
    assert planted(RULES, subject, tmp_path) == {}
