"""The rule on datasets in other layouts: every row could be read as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curation.audit.layouts.canonical import Canonical
from curation.audit.layouts.problems import INFORMATIVE, NAME, REASONS, Problems
from curation.audit.layouts.recognise import recognise
from curation.audit.layouts.records import first_columns
from curation.audit.rule import MAX_EXAMPLES, Check, Context, Defect, NotApplicable, Outcome, Rule, side
from curation.published.query import fetch, fetch_one
from schemas.audit import Coverage, Finding

_RULE = "readable_rows"
_LISTED = ", ".join(f"'{reason}'" for reason in sorted(INFORMATIVE))
_UNREADABLE = f"""SELECT "table", file, line, id, reason, detail FROM problems WHERE reason NOT IN ({_LISTED})
    ORDER BY file, line NULLS FIRST, reason, id, detail LIMIT {MAX_EXAMPLES}"""
_COUNTS = f"""SELECT count(*) FILTER (reason NOT IN ({_LISTED})) AS found,
    count(*) FILTER (reason IN ({_LISTED})) AS unread FROM problems"""


def _readable(context: Context) -> Outcome:
    """What the reader of the layout wrote down beside the tables."""
    path = context.directory / NAME
    if not path.is_file():
        raise NotApplicable("our own layout is read as it is; see the rule schema")
    views = {"problems": [path]}
    counts = fetch_one(context.query, _COUNTS, views)
    findings = tuple(
        Finding(
            rule=_RULE,
            severity="error",
            message=f"{row['id']}: {REASONS[row['reason']]}",
            sides=(side(row["table"], row["id"], row["detail"]),),
        )
        for row in fetch(context.query, _UNREADABLE, views)
    )
    kept = sum(context.count(name) for name in ("queries", "corpus", "qrels") if name in context.views)
    unread = int(counts["unread"])
    why = "data files of unknown purpose" if unread else ""
    covered = [Coverage(compared_with="", compared=kept, unit="rows")]
    if unread:
        covered.append(Coverage(compared_with="", compared=0, unit="files", skipped=unread, why=why))
    return Outcome(kept, int(counts["found"]), findings, coverage=tuple(covered))


def _broken(name: str, named: str, files: dict[str, str]) -> Defect:
    """A small dataset with a defect, read as any other: what its reader says stands beside the tables."""

    def write(directory: Path, ids: Sequence[str]) -> None:
        root = directory / "canary-layout"
        for file, text in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text, encoding="utf-8", newline="\n")
        problems = Problems(directory / NAME)
        plan = recognise(root, lambda file: first_columns(root, file))
        Canonical(root, directory / "canary-tables", plan, problems).write()
        problems.close()

    return Defect(name, f"SELECT '{named}'", files=write)


_TEXTS = '{"_id": "d1", "text": "a keeper rows across when the horn fails"}\n'
_DEFECTS = (
    _broken("a line that is not JSON", "corpus.jsonl:2", {"corpus.jsonl": _TEXTS + '{"_id": "d2", "te\n'}),
    _broken("a row without id", "corpus.jsonl:2", {"corpus.jsonl": _TEXTS + '{"text": "a lamp"}\n'}),
    _broken("ids of two types", "2", {"corpus.jsonl": _TEXTS + '{"_id": 2, "text": "a number"}\n'}),
    _broken(
        "a score that is not a number",
        "qrels/test.tsv:2",
        {"corpus.jsonl": _TEXTS, "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\thigh\n"},
    ),
    _broken(
        "an image that is not there",
        "d1",
        {"corpus.jsonl": '{"_id": "d1", "text": "a lamp", "image_path": "absent.png"}\n'},
    ),
)
RULES = (
    Rule(
        _RULE,
        1,
        "Every row can be read as written",
        "In a dataset of another layout, every line is whole, every row has an id and a text or image, "
        "scores are whole numbers, each column has one type in all files, and every image named is there.",
        "error",
        "rows",
        checks=(Check("a row cannot be read as it is written", _readable, _DEFECTS),),
    ),
)
