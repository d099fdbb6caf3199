"""Abstracts as documents: MeSH headings of a PubMed record say which facets an article tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation.tasks.crosslingual_qa.abstracts import headings
from curation.tasks.crosslingual_qa.asked_sql import BY_QUALIFIER
from curation.tasks.shared.titles import title_in
from schemas.article import Abstract, Article, Licence, RawArticle, Translated
from schemas.concept import DocumentConcept
from schemas.extracted import Source
from schemas.hashing import sha256_bytes
from schemas.record import from_table, to_table
from schemas.vocabulary import ConceptName, ConceptRelation
from sources import medline_xml
from tests.curation.tasks.crosslingual_world import FEVER, GOUT, KIND, TOE, run, write_vocabulary
from tests.sources.fakes.medline import simple

CODES = {GOUT: "D900001", KIND: "D900002", TOE: "D900003", FEVER: "D900004"}
NAMES = {GOUT: "Gout", KIND: "Podagra", TOE: "Redtoe", FEVER: "Marsh Fever"}
TEXTS = {
    11: "Forty sailors took colchicine. Attacks were shorter in those who began on the first day.",
    12: "Kidneys of sailors do not pass the acid. Crystals of it were seen in every joint looked at.",
    13: "Sailors with gout were among those who were asked about wine, bread and rest on shore.",
    14: "The great toe was opened in nine sailors. All of them walked again within the same month.",
    15: "Nobody has looked at this record, so nobody can say what the text of it is all about.",
    16: "Sailors were asked what they call the disease that bends their joints in winter nights.",
}
HEADINGS: dict[int, tuple[tuple[str, str], ...]] = {
    11: ((GOUT, "*drug therapy/genetics"),),
    12: (("*" + GOUT, "etiology"),),
    13: ((GOUT, "drug therapy"), ("*" + FEVER, "")),
    14: ((KIND, "*surgery"),),
    16: (("*" + GOUT, ""),),
}


def mesh(listed: tuple[tuple[str, str], ...]) -> str:
    """MeshHeadingList of invented headings, `*` before what is a main point."""

    def part(name: str, ui: str, written: str) -> str:
        major = "Y" if written.startswith("*") else "N"
        return f'<{name} UI="{ui}" MajorTopicYN="{major}">{written.removeprefix("*")}</{name}>'

    made = ""
    for concept, qualifiers in listed:
        bare = concept.removeprefix("*")
        star = "*" if concept.startswith("*") else ""
        made += "<MeshHeading>" + part("DescriptorName", CODES[bare], star + NAMES[bare])
        for number, qualifier in enumerate(filter(None, qualifiers.split("/"))):
            made += part("QualifierName", f"Q90000{number}", qualifier)
        made += "</MeshHeading>"
    return f"<MeshHeadingList>{made}</MeshHeadingList>"


def record(pmid: int) -> Article:
    """What PubMed says of an article, its abstract and headings."""
    data = simple(pmid, abstract=TEXTS[pmid], links=mesh(HEADINGS[pmid])).encode()
    raw = RawArticle(
        id=f"medline:{pmid}", source="medline", format="medline", locator=str(pmid), path="x",
        sha256=sha256_bytes(data),
    )  # fmt: skip
    return medline_xml.parse(data, raw)


def given() -> dict[str, list[Any]]:
    """Six articles of PMC, and the records of five of them in PubMed, which are under no licence."""
    licence = Licence(spdx="CC-BY-4.0", evidence="invented")
    sources, articles = [], []
    for pmid, text in TEXTS.items():
        name = f"pmc:PMC{pmid}.1"
        sources.append(
            Source(id=name, title=f"On sailors {pmid}", language="en", licence=licence, raw_sha256="0" * 64,
                   pmid=str(pmid))
        )  # fmt: skip
        stated = "en" if pmid % 2 else "und"  # as JATS has it, where nothing is stated
        abstracts = (
            Abstract(language="es", type="", text=text),
            Abstract(language=stated, type="", text=text),
        )
        articles.append(
            Article(id=name, source="pmc", language="en", title="", licence=licence, raw_sha256="0" * 64,
                    abstracts=abstracts)
        )  # fmt: skip
    for pmid in HEADINGS:
        found = record(pmid)
        articles.append(found)
        sources.append(
            Source(id=found.id, title=found.title, language="en", licence=found.licence, raw_sha256="0" * 64,
                   pmid=found.pmid)
        )  # fmt: skip
    named = DocumentConcept(
        article_id="pmc:PMC14.1", concept=FEVER, name="marsh fever", mentions=1, asserted=1
    )
    return {
        "extract.sources": sources, "extract.passages": [], "ground.mentions": [],
        "parse.articles": articles, "extract.figures": [], "ground.concepts": [named],
    }  # fmt: skip


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_vocabulary(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(scope="module")
def made(vocabulary: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The task over abstracts, the vocabulary's concepts with ids of MeSH."""
    folder = tmp_path_factory.mktemp("abstracts")
    names = from_table(ConceptName, pq.read_table(vocabulary["names"]))
    coded = [replace(item, code=f"MESH:{CODES[item.concept]}") for item in names]
    pq.write_table(to_table(ConceptName, coded), folder / "names.parquet")
    return run({**vocabulary, "names": folder / "names.parquet"}, folder, given(), granularity="abstract")


def of(made: dict[str, list[Any]], source: str, table: str = "qrels") -> dict[str, Any]:
    """Article -> grade, reason or why, of one question."""
    (query,) = (item for item in made["queries"] if item.source_id == source)
    said = {"qrels": "score", "excluded": "reason", "hard_pool": "why"}[table]
    return {
        item.corpus_id.partition("#")[0].removeprefix("pmc:PMC").removesuffix(".1"): getattr(item, said)
        for item in made[table]
        if item.query_id == query.id
    }


def test_a_heading_is_a_main_point_by_its_star_or_by_that_of_a_qualifier() -> None:
    first, second = headings(record(11))[0], headings(record(12))[0]
    assert (first.descriptor, first.is_main) == ("MESH:D900001", True)
    assert (set(first.facets), set(first.minor)) == ({"treatment"}, {"cause"})
    assert second.is_main and set(second.facets) == {"cause"} and not second.minor
    fever, gout = sorted(headings(record(13)), key=lambda item: item.written, reverse=True)
    assert (gout.is_main, gout.facets) == (True, frozenset()) and not fever.facets and not fever.is_main


def test_an_abstract_tells_the_facet_of_a_main_qualifier_of_the_record_with_its_pmid(
    made: dict[str, list[Any]],
) -> None:
    assert {item.id for item in made["documents"]} == {
        f"pmc:PMC{pmid}.1#abstract" for pmid in (11, 12, 13, 14, 16)
    }
    assert of(made, f"{GOUT}/treatment/en") == {"11": 2}
    assert of(made, f"{GOUT}/cause/en") == {"12": 2}
    assert of(made, f"{KIND}/treatment/en") == {"14": 2}
    labels = [item for item in made["qrels"] if item.corpus_id.startswith("pmc:PMC11.1")]
    assert {(item.rule, item.label_status) for item in labels} == {(BY_QUALIFIER, "structural")}
    assert {span.text for item in labels for span in item.evidence} == {"Forty sailors took colchicine."}


def test_what_is_named_below_or_indexed_without_a_facet_is_excluded_and_far_is_unjudged(
    made: dict[str, list[Any]],
) -> None:
    left_out = of(made, f"{GOUT}/treatment/en", "excluded")
    assert left_out == {"13": "merely_named", "14": "narrower_concept", "16": "facet_undecided"}
    assert of(made, f"{GOUT}/treatment/en", "hard_pool") == {"12": "same disorder, another facet"}
    # genetics is a minor point of 11: it may tell of causes, so it is no far passage
    assert of(made, f"{GOUT}/cause/en", "excluded")["11"] == "facet_undecided"


def test_what_one_source_alone_has_below_is_excluded_as_disputed(
    vocabulary: dict[str, Path], tmp_path: Path
) -> None:
    names = from_table(ConceptName, pq.read_table(vocabulary["names"]))
    coded = [replace(item, code=f"MESH:{CODES[item.concept]}") for item in names]
    links = from_table(ConceptRelation, pq.read_table(vocabulary["relations"]))
    links.append(ConceptRelation(concept=GOUT, relation="parent", other=KIND, source="OTHER"))
    other = {
        **vocabulary,
        "names": tmp_path / "names.parquet",
        "relations": tmp_path / "relations.parquet",
    }
    pq.write_table(to_table(ConceptName, coded), other["names"])
    pq.write_table(to_table(ConceptRelation, links), other["relations"])
    made = run(other, tmp_path, given(), granularity="abstract")
    assert of(made, f"{GOUT}/treatment/en", "excluded")["14"] == "disputed_narrower"


def test_what_no_record_indexes_and_what_has_no_licence_is_dropped(made: dict[str, list[Any]]) -> None:
    why = {item.id: item.reason for item in made["drops"] if item.unit in ("abstract", "document")}
    assert why == {
        "pmc:PMC15.1#abstract": "not_indexed",
        **{f"medline:{pmid}#abstract": "licence_not_allowed" for pmid in HEADINGS},
    }


def test_passages_are_documents_unless_abstracts_are(vocabulary: dict[str, Path], tmp_path: Path) -> None:
    plain = run(vocabulary, tmp_path, given())
    assert not any("#abstract" in item.id for item in plain["documents"] if not item.id.endswith("-en"))
    assert plain["indexed"] == [] and not [item for item in plain["drops"] if item.unit == "abstract"]


@pytest.mark.parametrize(
    ("flags", "stated", "language", "title"),
    [
        ((), "pt", "pt-BR", "Febre"),
        ((), "pt", "en", "Fever"),
        ((), "pt", "de", "Febre"),
        ((), "pt", "und", "Febre"),
        (("title_translated",), "pt", "en", "Febre"),  # the own title is PubMed's English one
    ],
)
def test_titles_in_the_language_of_the_document(
    flags: tuple[str, ...], stated: str, language: str, title: str
) -> None:
    common: dict[str, Any] = {
        "id": "a",
        "title": "Febre",
        "licence": Licence(spdx="CC0-1.0", evidence="x"),
        "raw_sha256": "0" * 64,
    }
    source = Source(language=stated, **common)
    others = (Translated(language="en", text="Fever"),)
    article = Article(source="pmc", language=stated, flags=flags, translated_titles=others, **common)
    assert title_in(language, source, article) == title
