"""Grounding in other languages, measured on lines in XL-BEL's format and on keyword lists, both invented."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks import other_languages as benchmark
from benchmarks.other_languages import measure_keywords, measure_mentions, read_marked, targets
from curation.concepts.index import build_index
from curation.concepts.matcher import Matcher
from curation.concepts.native import open_index
from flows.vocabulary.store import Vocabulary
from schemas.record import to_table
from schemas.vocabulary import ConceptMapping, ConceptName

NAMES = (
    ("INV:1", "gout", "en"),
    ("INV:1", "gota", "es"),
    ("INV:2", "marsh fever", "en"),
    ("INV:2", "痛風", "ja"),
)
LINES = (
    "C0000001||gota||Un ataque de <tgt>gota</tgt> dura días.",
    "C0000009|C0000001||la gota||Murió de <tgt>la gota</tgt> en <tgt>Roma</tgt>.",
    "C0000002||fiebre||Tuvo <tgt>fiebre</tgt>.",
    "C0000001||gota||Una gota sin marca.",
)


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> tuple[Vocabulary, Matcher]:
    folder = tmp_path_factory.mktemp("vocabulary")
    names = [
        ConceptName(concept=concept, name=name, language=language, term_type="PT", source="INVENTED")
        for concept, name, language in NAMES
    ]
    mappings = [
        ConceptMapping(concept=f"INV:{one}", other=f"UMLS:C000000{one}", source="INVENTED", status="kept")
        for one in (1, 2)
    ]
    pq.write_table(to_table(ConceptName, names), folder / "names.parquet")
    pq.write_table(to_table(ConceptMapping, mappings), folder / "mappings.parquet")
    build_index(folder / "names.parquet", folder / "index", (), {})
    files = {name: {"file": f"{name}.parquet"} for name in ("names", "mappings")}
    return Vocabulary(folder, {"fingerprint": "0", "tables": files}), open_index(folder / "index")


def test_a_mention_is_found_where_its_own_words_give_its_id(vocabulary: tuple[Vocabulary, Matcher]) -> None:
    marked = list(read_marked(LINES, "es"))
    assert [item.text[item.start : item.end] for item in marked] == ["gota", "la gota", "fiebre"]
    assert "<tgt>" not in marked[1].text and marked[1].ids == {"C0000009", "C0000001"}
    assert targets(vocabulary[0])[1] == {
        "en": {"C0000001", "C0000002"}, "es": {"C0000001"}, "ja": {"C0000002"},
    }  # fmt: skip
    counts = measure_mentions(marked, vocabulary[1], vocabulary[0])
    assert counts == {"es": {"all": 3, "reachable": 2, "found": 1, "other": 0}}


def test_keywords_count_where_the_english_one_is_a_name(vocabulary: tuple[Vocabulary, Matcher]) -> None:
    lists = [("es", "Gout", "Gota"), ("es", "Marsh fever", "Malaria"), ("es", "Nurses", "Enfermeras"),
             ("es", "Covid", "COVID")]  # fmt: skip
    assert measure_keywords(lists, vocabulary[1]) == {"es": {"pairs": 3, "reachable": 2, "found": 1}}


def test_keyword_lists_of_one_article_are_read_in_pairs(tmp_path: Path) -> None:
    group = '<kwd-group xml:lang="{}"><kwd>{}</kwd><kwd>{}</kwd></kwd-group>'
    (tmp_path / "a.xml").write_text(
        '<article xml:lang="en"><front><article-meta><title-group><article-title>Of gout</article-title>'
        "</title-group>" + group.format("en", "gout", "rest") + group.format("es", "gota", "reposo")
        + group.format("pt", "gota", "repouso").replace("<kwd>repouso</kwd>", "")
        + "</article-meta></front><body><p>Rest.</p></body></article>",
        "utf-8",
    )  # fmt: skip
    (tmp_path / "b.xml").write_text("<article/>", "utf-8")
    found = list(benchmark.keyword_pairs(tmp_path))
    assert found == [("es", "gout", "gota"), ("es", "rest", "reposo")]
