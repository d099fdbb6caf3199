"""Every reason a row can have, on a release changed in that one thing; counts, text, page and changelog."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.changes.changelog import changelog
from curation.changes.difference import ChangedRow, Difference, difference
from curation.changes.page import render_page
from curation.changes.text import describe
from curation.release.change import compare
from flows.engine.connection import query
from tests.releases import manifest, seal, write

Tables = dict[str, list[dict[str, Any]]]
ASK = query("1GB")


def tables() -> Tables:
    """Three articles with a query and a document each; every query has the document of its article."""
    names = ("PMC1.1", "PMC2.1", "PMC3.1")
    return {
        "sources": [{"id": f"pmc:{name}"} for name in names],
        "queries": [{"id": f"q-{name[3]}", "text": f"Query {name}", "split": "test"} for name in names],
        "corpus": [{"id": f"pmc:{name}#p1", "title": "T", "text": f"Text {name}"} for name in names],
        "qrels": [label(f"q-{name[3]}", f"pmc:{name}#p1") for name in names],
        "excluded": [
            {"query-id": "q-1", "corpus-id": "pmc:PMC2.1#p1", "reason": "near_copy", "split": "test"}
        ],
        "provenance_queries": [
            {
                "id": f"q-{name[3]}",
                "split": "test",
                "source_id": f"pmc:{name}#F1",
                "article_id": f"pmc:{name}",
            }
            for name in names
        ],
        "provenance_corpus": [{"id": f"pmc:{name}#p1", "article_id": f"pmc:{name}"} for name in names],
        "drops": [],
    }


def label(name: str, document: str, score: int = 2, **more: Any) -> dict[str, Any]:
    told = {"label_status": "structural", "rule": "a@1", "via": "", "split": "test"}
    return {"query-id": name, "corpus-id": document, "score": score, **told, **more}


def drop(found: Tables, name: str, reason: str, unit: str = "query") -> None:
    found["drops"].append(
        {"stage": "s", "unit": unit, "id": name, "article_id": "", "reason": reason, "detail": ""}
    )


def without_query(found: Tables, name: str = "q-3") -> None:
    for table, column in (("queries", "id"), ("provenance_queries", "id"), ("qrels", "query-id")):
        found[table] = [row for row in found[table] if row[column] != name]


def without_document(found: Tables, name: str = "pmc:PMC3.1#p1") -> None:
    for table, column in (("corpus", "id"), ("provenance_corpus", "id"), ("qrels", "corpus-id")):
        found[table] = [row for row in found[table] if row[column] != name]


def added(found: Tables, article: str) -> None:
    found["queries"].append({"id": "q-new", "text": "New", "split": "test"})
    told = {"split": "test", "source_id": f"{article}#F9", "article_id": article}
    found["provenance_queries"].append({"id": "q-new", **told})
    found["qrels"].append(label("q-new", "pmc:PMC1.1#p1"))
    if article not in {row["id"] for row in found["sources"]}:
        found["sources"].append({"id": article})


def new_article(found: Tables) -> None:
    added(found, "pmc:PMC9.1")


def article_version(found: Tables) -> None:
    added(found, "pmc:PMC3.2")


def newly_selected(found: Tables) -> None:
    added(found, "pmc:PMC3.1")


def retracted(found: Tables) -> None:
    """As the crawl tells of it: by a locator without source and version."""
    without_query(found)
    without_document(found)
    drop(found, "PMC3", "retracted", "article")


def orphaned(found: Tables) -> None:
    """The document is withdrawn; the query goes for want of a positive, named by nothing."""
    without_query(found)
    without_document(found)
    drop(found, "pmc:PMC3.1#p1", "reported", "document")


def dropped(found: Tables) -> None:
    without_query(found)
    drop(found, "q-3", "vague_caption")


def in_no_set(found: Tables) -> None:
    """A query is withdrawn; no other is ranked among its document."""
    without_query(found)
    without_document(found)
    drop(found, "q-3", "withdrawn")
    drop(found, "pmc:PMC3.1#p1", "in_no_set", "document")


def emptied(found: Tables) -> None:
    """Reviewers left the query no document with a grade above 0."""
    without_query(found)
    drop(found, "q-3", "no_positive_left")


def reworded(found: Tables) -> None:
    without_query(found)
    added(found, "pmc:PMC3.1")
    found["provenance_queries"][-1]["source_id"] = "pmc:PMC3.1#F1"


def judged(found: Tables) -> None:
    found["qrels"][0] |= {"score": 1, "label_status": "expert", "rule": "review@1"}


def confirmed(found: Tables) -> None:
    found["qrels"][0] |= {"label_status": "expert"}


def other_rule(found: Tables) -> None:
    found["qrels"][0] |= {"score": 1, "rule": "a@2"}


def cannot_judge(found: Tables) -> None:
    gone = found["qrels"].pop(0)
    pair = {name: gone[name] for name in ("query-id", "corpus-id", "split")}
    found["excluded"].append({**pair, "reason": "cannot_judge"})
    found["annotations"] = [
        {**pair, "annotator": "a", "role": "annotator", "seconds": 0.0, "rule": "review@1"}
    ]


def moved(found: Tables) -> None:
    for table in ("queries", "provenance_queries", "qrels"):
        found[table] = [
            {**row, "split": "dev"} if "q-3" in (row.get("id"), row.get("query-id")) else row
            for row in found[table]
        ]


def text(found: Tables) -> None:
    found["corpus"][1]["text"] += " More."


def facet(found: Tables) -> None:
    found["queries"][1]["specialty"] = "oncology"


def difference_of(folder: Path, change: Callable[[Tables], None]) -> Difference:
    before, after = tables(), tables()
    change(after)
    old = write(folder / "old", before, splits=("test",))
    first = seal(old)
    new = write(folder / "new", after, splits=("test",))
    told = compare(old, new, manifest(version="9.0.0"), ASK)
    seal(new, manifest(version="9.0.0", change=told.content()))
    found = difference(old, new, ASK)
    assert found.level == told.level and found.notes == told.notes and told.parent == first.release_hash
    return found


def main_rows(found: Difference) -> list[tuple[str, str, str, str, str]]:
    wanted = ("queries", "corpus", "qrels", "excluded")
    return [(r.table, r.key, r.change, r.reason, r.detail) for r in found.rows if r.table in wanted]


Q, D = "q-3", "pmc:PMC3.1#p1"


@pytest.mark.parametrize(
    ("change", "level", "rows"),
    [
        (lambda found: None, "none", []),
        (
            new_article,
            "minor",
            [
                ("queries", "q-new", "added", "new_article", ""),
                ("qrels", "q-new pmc:PMC1.1#p1", "added", "new_article", "with its query"),
            ],
        ),
        (article_version, "minor", [("queries", "q-new", "added", "article_version", "")]),
        (newly_selected, "minor", [("queries", "q-new", "added", "selection", "")]),
        (
            retracted,
            "patch",
            [
                ("queries", Q, "removed", "withdrawal", "retracted"),
                ("corpus", D, "removed", "withdrawal", "retracted"),
                ("qrels", f"{Q} {D}", "removed", "withdrawal", "with its query"),
            ],
        ),
        (orphaned, "patch", [("queries", Q, "removed", "withdrawal", "no positive is left")]),
        (in_no_set, "patch", [("corpus", D, "removed", "selection", "dropped: in_no_set")]),
        (dropped, "major", [("queries", Q, "removed", "selection", "dropped: vague_caption")]),
        (
            emptied,
            "major",
            [
                ("queries", Q, "removed", "review", "dropped: no_positive_left"),
                ("qrels", f"{Q} {D}", "removed", "review", "with its query"),
            ],
        ),
        (
            reworded,
            "major",
            [
                ("queries", Q, "removed", "text_changed", "now q-new"),
                ("queries", "q-new", "added", "text_changed", "was q-3"),
            ],
        ),
        (judged, "major", [("qrels", "q-1 pmc:PMC1.1#p1", "changed", "review", "")]),
        (confirmed, "patch", [("qrels", "q-1 pmc:PMC1.1#p1", "changed", "review", "")]),
        (other_rule, "major", [("qrels", "q-1 pmc:PMC1.1#p1", "changed", "rule_version", "")]),
        (
            cannot_judge,
            "major",
            [
                ("qrels", "q-1 pmc:PMC1.1#p1", "removed", "review", ""),
                ("excluded", "q-1 pmc:PMC1.1#p1", "added", "review", ""),
            ],
        ),
        (moved, "major", [("queries", Q, "changed", "partition", "")]),
        (text, "major", [("corpus", "pmc:PMC2.1#p1", "changed", "text_changed", "")]),
        (facet, "patch", [("queries", "q-2", "changed", "metadata", "")]),
    ],
)
def test_each_reason_and_its_level(
    tmp_path: Path, change: Callable[[Tables], None], level: str, rows: list[tuple[str, ...]]
) -> None:
    found = difference_of(tmp_path, change)
    assert found.level == level
    told = main_rows(found)
    assert set(rows) <= set(told) and bool(rows) == bool(told), told
    assert {row[0] for row in told} <= {item.table for item in found.counts}
    assert sum(item.rows for item in found.counts) == len(found.rows)
    assert json.loads(json.dumps(found.content()))["level"] == level


def test_stages_of_the_task_that_changed_are_a_reason(tmp_path: Path) -> None:
    def heads(version: int) -> Any:
        return manifest(stages=({"name": "clinical_case", "version": version, "params": {}},))

    after = tables()
    dropped(after)
    folders = [write(tmp_path / name, rows) for name, rows in (("old", tables()), ("new", after))]
    for version, folder in enumerate(folders, 1):
        seal(folder, heads(version))
    found = difference(folders[0], folders[1], ASK)
    assert main_rows(found)[0] == ("queries", "q-3", "removed", "rule_version", "dropped: vague_caption")
    assert found.notes[-1] == "stage clinical_case: version 1 → 2"


def test_text_and_page_have_counts_first_and_escape_what_they_show(tmp_path: Path) -> None:
    found = difference_of(tmp_path, judged)
    said = describe(found).splitlines()
    assert said[0] == "small/clinical_case 1.0.0 → 9.0.0: major"
    assert said[1] == "  labels 1 changed (1 by review)"
    assert (
        "  ~ q-1 pmc:PMC1.1#p1  2 structural a@1 → 1 expert review@1  [score, label_status, rule]  review"
        in said
    )
    row = ChangedRow("qrels", "<script>", "changed", "review", "", (), "major", "<b>", "")
    page = render_page([dataclasses.replace(found, rows=(row,))], [("summary", "1.0.0")])
    assert "<script>" not in page and "&lt;script&gt;" in page and "annotators judged the pair" in page
    assert "src=" not in page and "The task summary is in 1.0.0 alone." in page
    many = dataclasses.replace(found, rows=found.rows * 30)
    assert "further rows: --json has all" in describe(many)


def test_a_release_of_other_parents_is_told_of(tmp_path: Path) -> None:
    found = difference_of(tmp_path, judged)
    assert found.is_child
    stranger = dataclasses.replace(found.old, release_hash="0" * 64)
    assert "was not made after this 1.0.0" in describe(dataclasses.replace(found, old=stranger))


def test_the_changelog_follows_from_release_json(tmp_path: Path) -> None:
    withdrawn = difference_of(tmp_path, retracted).new
    text = changelog(withdrawn)
    assert text.index("## 9.0.0 (patch)") < text.index("## 1.0.0") and "First release." in text
    assert f"(release hash `{withdrawn.change['parent']}`)" in text
    assert "- −1 query withdrawn" in text and "- `q-3` (retracted)" in text
    assert "| queries | 1 | removed | it was withdrawn, or what it rests on was |" in text
