"""Answers written by hand for benchmarks/judged_walk: whole, and without a word of the articles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.judged_walk.answers import WRITTEN, Answers
from curation.prompts.reasoning_path import LEAST, ask, read
from curation.prompts.reasoning_path import Path as ReasoningPath
from schemas.hashing import sha256_text

GIVEN: Mapping[str, Any] = json.loads(WRITTEN.read_text("utf-8"))
READ: Mapping[str, Any] = json.loads(
    (WRITTEN.parents[1] / "developer_checks" / "vignettes.json").read_text("utf-8")
)
VIGNETTE = "A woman had a fever for two days and then a stiff neck. What is the most likely diagnosis?"


def all_quotes() -> Iterator[tuple[str, Any]]:
    for kind in ("paths", "judgements"):
        for name, row in GIVEN[kind].items():
            assert re.fullmatch(r"[0-9a-f]{64}", row["text_sha256"]), name
            yield from ((name, quote) for quote in row["quotes"])


def test_quotes_are_places_and_no_words() -> None:
    quotes = list(all_quotes())
    assert len(quotes) > 100 and sum(quote is None for _, quote in quotes) == 3  # three that nobody wrote
    for name, quote in quotes:
        assert quote is None or (len(quote) == 2 and 0 <= quote[0] < quote[1]), name
    for name, row in GIVEN["judgements"].items():
        for form in row.keys() - {"text_sha256", "quotes"}:
            assert form in ("forward", "reversed", "seeded") and set(row[form]) <= {0, 1, 2, 3}, name
    assert sum(len(row["path"]) < LEAST for row in GIVEN["paths"].values()) == 1  # one without steps


def test_every_case_that_was_answered_was_read() -> None:
    assert READ["queries"]["clinical_evidence"].keys() == GIVEN["paths"].keys()
    verdicts = {verdict for one in READ["queries"].values() for verdict in one.values()}
    assert verdicts == {"hidden", "told by a finding", "not answerable"}


def test_an_answer_is_to_the_text_that_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its quotes are then taken from there; of another text nothing is said."""
    quote = VIGNETTE.index("a stiff neck")
    row = {"text_sha256": sha256_text(VIGNETTE), "path": "It is so. " * 12, "quotes": [[quote, quote + 12]]}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"paths": {"case": row}, "judgements": {}, "hyde": {}}), "utf-8")
    monkeypatch.setattr("benchmarks.judged_walk.answers.WRITTEN", path)
    answers = Answers(tmp_path)
    prompt = ask("case", "clinical_evidence", VIGNETTE, "Meningitis", "")
    said = answers.to(prompt)
    assert said is not None and said["quotes"] == ["a stiff neck"]
    assert isinstance(read(prompt, said), ReasoningPath)
    assert answers.to(ask("case", "clinical_evidence", f"{VIGNETTE} Now?", "Meningitis", "")) is None
