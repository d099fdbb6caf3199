"""A text and its Unicode variants are one text for every comparison; offsets are of the text as written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.audit.executor import SerialExecutor
from curation.audit.layouts import open_hash_list, write_hash_list
from curation.audit.report import run_rule
from curation.audit.rule import Context, Rule
from curation.audit.rules import contamination, duplicates, near_across_tasks, overlap, spans
from curation.partition.near_queries import near_keys
from curation.similarity.text.engine import (
    Texts,
    copied_spans,
    exact_pairs,
    hash_list,
    locate,
    match_hash_list,
    near_pairs,
)
from curation.similarity.text.whole import whole_texts
from schemas.benchmark import Query
from schemas.hashing import normalise_text
from schemas.record import to_table
from tests.curation.audit import small
from tests.curation.audit.overlapping import Made
from tests.curation.release.known import run_sql

_FULL = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_LIGATURES = {"ffi": "\ufb03", "fi": "\ufb01", "fl": "\ufb02"}


def _ligatures(text: str) -> str:
    for plain, joined in _LIGATURES.items():
        text = text.replace(plain, joined)
    return text


VARIANTS: dict[str, Callable[[str], str]] = {
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "compatible": lambda text: unicodedata.normalize("NFKD", text),
    "micro": lambda text: text.replace("\u03bc", "\u00b5"),
    "ligatures": _ligatures,
    "full width": lambda text: text.translate(_FULL),
    "non-breaking": lambda text: text.replace(" ", "\u00a0").replace("-", "\u2011"),
    "thin": lambda text: text.replace(" ", "\u2009").replace("-", "\u2010"),
    "upper case": str.upper,
}
LONG = (
    "An office-worker of fifty-five had a 5 \u03bcm fibre in the left eye, a caf\u00e9-brown iris, "
    "\u00c5ngstr\u00f6m-thin flakes on the cornea and floating vitreous fibrils 港町の灯台"
)
SHORT = "How thick is a caf\u00e9-brown fibre of 5 \u03bcm?"


def texts(*rows: str) -> Texts:
    return Texts.of("rows", [str(number) for number in range(len(rows))], rows)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_engine_takes_variants_for_one_text(name: str) -> None:
    change = VARIANTS[name]
    for text in (LONG, SHORT):
        varied = change(text)
        assert normalise_text(varied) == normalise_text(text)
        one, other = texts(text), texts(varied)
        assert len(exact_pairs(one, other).pairs) == 1
        assert [pair.is_exact for pair in match_hash_list(one, hash_list(other)).pairs] == [True]
        located = locate(text, varied)
        assert located is not None and located.tokens == one.sketch.counts[0]
        assert normalise_text(varied[slice(*located.other)]) == normalise_text(text[slice(*located.one)])
        around = f"It was asked: {varied} Nobody knew, as far as anyone has written down since."
        short = one.sketch if text == SHORT else texts("nothing of the kind is here at all").sketch
        assert bool(whole_texts(short.digests, short.halves, texts(around)).pairs) == (text == SHORT)
    assert next(pair.value for pair in near_pairs(texts(LONG), texts(change(f"{LONG} again"))).pairs) > 0.9
    assert len(copied_spans(texts(LONG), texts(change(f"Before it {LONG} and after"))).pairs) == 1


@settings(max_examples=80, deadline=None)
@given(
    words=st.lists(
        st.text(st.sampled_from("abfilß\u03bc\u00e9\u00e5\u00f1ıǆᾳ5²½ﬁ港ばㇰ한"), min_size=1, max_size=5),
        min_size=1,
        max_size=16,
    ),
    names=st.lists(st.sampled_from(sorted(set(VARIANTS) - {"upper case"})), min_size=1, max_size=3),
)
def test_variants_of_any_text_have_the_same_tokens(words: list[str], names: list[str]) -> None:
    text = varied = " ".join(words)
    for name in names:
        varied = VARIANTS[name](varied)
    one, other = texts(text), texts(varied)
    assert one.sketch.digests.tolist() == other.sketch.digests.tolist()
    assert one.sketch.postings.tolist() == other.sketch.postings.tolist()
    assert sorted(one.sketch.left_out.tolist()) == sorted(other.sketch.left_out.tolist())
    assert normalise_text(text) == normalise_text(varied)


def said(rule: Rule, context: Context) -> set[str]:
    return small.named(run_rule(rule, context)[0])


@pytest.mark.parametrize("name", ["decomposed", "micro", "full width", "ligatures"])
def test_every_rule_that_compares_texts_sees_through_variants(name: str, tmp_path: Path) -> None:
    change = VARIANTS[name]
    one, two = Made("clinical_case"), Made("reference_qa")
    one.add("a", LONG, targets=())
    one.add("b", change(LONG), targets=())
    one.add("c", f"{LONG} again", split="dev", targets=())
    one.positive("clinical_case-a", "pmc:PMC1.1", document="d1")
    one.tables["corpus"][-1]["text"] = change(LONG)
    two.add("a", change(LONG), targets=())
    two.add("b", change(f"{LONG} once"), targets=())
    folder = tmp_path / "audited"
    context = Context(
        one.write(folder), run_sql, tmp_path, SerialExecutor(), siblings=(two.write(folder, "sibling"),)
    )
    pair = {"clinical_case-a", "clinical_case-b"}
    assert pair <= said(small.rule_of(duplicates.RULES, "duplicate_queries"), context)
    assert pair & said(small.rule_of(duplicates.RULES, "near_queries_across_splits"), context)
    assert "d1" in said(small.rule_of(spans.RULES, "self_match"), context)
    assert "reference_qa-b" in said(near_across_tasks.RULES[0], context)
    assert "reference_qa-a" in said(small.rule_of(overlap.RULES, "overlap_query"), context)
    listed = tmp_path / "list.parquet"
    write_hash_list(two.write(tmp_path / "theirs", "against"), listed, SerialExecutor())
    rule = small.rule_of(contamination.RULES, "contaminated_queries")
    for other in (two.write(tmp_path / "theirs", "against"), open_hash_list(listed)):
        given_one = Context(context.subject, run_sql, tmp_path, SerialExecutor(), against=(other,))
        assert "clinical_case-a" in said(rule, given_one)


def test_the_partition_takes_variants_for_one_text(tmp_path: Path) -> None:
    def query(name: str, text: str) -> Query:
        return Query(
            id=name,
            task="t",
            text=text,
            language="en",
            image=None,
            source_id="s",
            article_id="a",
            license="CC0-1.0",
            license_evidence="test",
            text_sha256="0" * 64,
        )

    rows = [query("a", LONG), query("b", VARIANTS["full width"](LONG)), query("c", f"{LONG} again")]
    pq.write_table(to_table(Query, rows), tmp_path / "q.parquet")
    found = near_keys({"t": [tmp_path / "q.parquet"]})
    assert [row.query_id for row in found] == ["a", "b", "c"] and len({row.key for row in found}) == 1
