"""The rule on sentences copied with changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.audit.rules import edited_copies
from curation.audit.rules.edited_copies import copies
from schemas.audit import Kind, RuleResult
from tests.curation.audit import small

QUERY = "Axial view. Rest for a week eased the pain of gout in most of the old men seen."
DOCUMENT = "We found that rest for one week eased pain of gout in most old men. Later they walked."


def checked(tmp_path: Path, article: str, kind: Kind = "release") -> RuleResult:
    made = {
        "queries": small.queries(("q1", QUERY)),
        "corpus": small.texts(("d1", DOCUMENT)),
        "qrels": small.qrels(("q1", "d1")),
    }
    if kind == "release":
        made["provenance_queries"] = [{"id": "q1", "article_id": "pmc:PMC1.1"}]
        made["provenance_corpus"] = [{"id": "d1", "article_id": article}]
    subject = small.dataset(tmp_path / "data", made, kind)
    (tmp_path / "scratch").mkdir()
    return small.check(edited_copies.RULES[0], subject, tmp_path / "scratch")


@pytest.mark.parametrize(("article", "found"), [("pmc:PMC1.1", 1), ("pmc:PMC2.1", 0)])
def test_pairs_of_one_article(tmp_path: Path, article: str, found: int) -> None:
    result = checked(tmp_path, article)
    assert result.found == found
    for finding in result.findings:
        one, two = finding.sides
        assert one.quote == "Rest for a week eased the pain of gout in most of the old men seen."
        assert two.quote == "We found that rest for one week eased pain of gout in most old men."


def test_what_does_not_say_which_article_a_row_is_from_is_not_covered(tmp_path: Path) -> None:
    assert checked(tmp_path, "", "beir").status == "not_covered"


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [("template", "gout", 0), ("template", "lupus", 1), ("template", "", 1), ("human", "gout", 1)],
)
def test_a_question_that_a_template_made_copies_nothing(
    tmp_path: Path, kind: str, name: str, found: int
) -> None:
    start = QUERY.index("gout")
    string = {"query-id": "q1", "language": "en", "kind": kind, "name": name, "source": "ours",
              "start": start, "end": start + len("gout"), "restriction": 0, "license": "CC0-1.0"}  # fmt: skip
    subject = small.dataset(
        tmp_path / "data",
        {
            "queries": small.queries(("q1", QUERY)),
            "corpus": small.texts(("d1", DOCUMENT)),
            "qrels": small.qrels(("q1", "d1")),
            "provenance_queries": [{"id": "q1", "article_id": "pmc:PMC1.1"}],
            "provenance_corpus": [{"id": "d1", "article_id": "pmc:PMC1.1"}],
            "strings": [string],
        },
        "release",
    )
    (tmp_path / "scratch").mkdir()
    assert small.check(edited_copies.RULES[0], subject, tmp_path / "scratch").found == found


def test_of_a_pair_the_first_copy_is_told() -> None:
    found = copies([("q1", "d1", QUERY, DOCUMENT), ("q2", "d1", "Nothing of the kind.", DOCUMENT)])
    assert [(pair[0], here) for pair, here, _ in found] == [("q1", (12, len(QUERY)))]
