"""A fixed-seed slice of the benchmark: what was planted is found and nothing else, also in real articles."""

from __future__ import annotations

import pytest

from benchmarks import overlap_audit as bench
from benchmarks.jats_speed import raw_of
from curation.extract.stage import EXTRACT
from curation.similarity.text.engine import SPAN, locate
from curation.similarity.text.tokens import tokens_with_offsets
from schemas.extracted import Passage
from sources import jats
from tests.conftest import Library


def test_every_planted_overlap_is_found_and_nothing_else() -> None:
    given = bench.generated(size=600, planted=40, seed=3)
    texts = [bench.in_memory(name, rows) for name, rows in (("r", given.reference), ("c", given.candidates))]
    found = bench.ours(*texts)
    assert bench.score(given, found) == {"exact": 40, "near": 40, "span": 40, "false_positives": 0}
    assert (
        found
        == bench.by_gram_set(given)
        == {pair for planted in given.planted.values() for pair in planted.items()}
    )
    assert bench.score(given, set()) == {"exact": 0, "near": 0, "span": 0, "false_positives": 0}
    touched = {candidate for planted in given.planted.values() for candidate in planted}
    other = (min(set(range(600)) - touched), 0)
    assert bench.score(given, found | {other})["false_positives"] == 1


def test_near_copies_are_found_up_to_fifteen_percent_changed() -> None:
    found = bench.by_share_changed(planted=60, seed=4)
    assert all(found[share] >= 0.98 for share in ("02", "05", "08", "10", "12", "15"))


def test_flagged_passages_of_whole_articles_do_share_the_words_stated(library: Library) -> None:
    names, texts = [], []
    for number, path in enumerate(library.files):
        data = path.read_bytes()
        article = jats.parse(data, raw_of(path, data))
        for row in EXTRACT.process(article, **EXTRACT.params):
            if isinstance(row, Passage) and row.text:
                names.append(row.id)
                texts.append(row.text)
        if number == 40:
            break
    result = bench.real(names, texts)
    by_id = dict(zip(names, texts, strict=True))
    assert result["articles"] > (20 if library.is_sample else 30) and result["sample"]
    for row in result["sample"]:
        spans = [by_id[row[side]][slice(*row[f"{side}_span"])] for side in ("one", "other")]
        words = [[token for token, _, _ in tokens_with_offsets(span)] for span in spans]
        assert words[0] == words[1] and len(words[0]) >= min(SPAN, row["words"])
    assert not any(key in row for row in result["sample"] for key in ("text", "quote"))


@pytest.mark.parametrize("kind", bench.KINDS)
def test_the_input_is_planted_as_stated(kind: str) -> None:
    given = bench.generated(size=300, planted=20, seed=5)
    assert len(given.planted[kind]) == 20
    for candidate, source in given.planted[kind].items():
        one, two = given.candidates[candidate].split(), given.reference[source].split()
        same = sum(a == b for a, b in zip(one, two, strict=True))
        if kind == "span":
            run = locate(given.candidates[candidate], given.reference[source])
            assert run is not None and run.tokens >= bench.COPIED
        else:
            assert same == bench.WORDS if kind == "exact" else bench.WORDS - 8 <= same < bench.WORDS
