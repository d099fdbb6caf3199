"""A generated corpus for the task summary in which every rule, exclusion and drop occurs, with the truth."""

from __future__ import annotations

import dataclasses
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from curation.extract.stage import EXTRACT
from curation.tasks.summary.task import TASK
from flows.engine.database import connect, select
from flows.engine.runner import run_records
from schemas.article import Abstract, Article, Graphic, Licence, RelatedArticle, Section
from schemas.case import Case
from schemas.concept import DocumentConcept
from schemas.ids import abstract_id
from schemas.label import RecordLabels
from schemas.record import arrow_schema, from_table, to_table
from schemas.vocabulary import ConceptType
from tests.curation.builders import article, figure

_WORDS = (
    "patient lesion biopsy fever cough artery vein nodule tumour scan dose drug nurse ward clinic chest liver"
    " kidney spleen marrow relapse remission surgery suture"
    " catheter stent valve rhythm murmur oedema ascites jaundice anaemia thrombus embolus stroke seizure"
    " aphasia tremor reflex gait posture fracture callus tendon cartilage joint synovium rash vesicle papule"
    " plaque ulcer scar graft flap margin excision radiation isotope contrast axial coronal sagittal signal"
)
WORDS = _WORDS.split()
SECTIONS = (
    Section(number=1, parent=0, title="Introduction", part="body"),
    Section(number=2, parent=0, title="Case", part="body"),
    Section(number=3, parent=0, title="5. Discussion and Conclusions", part="body"),
    Section(number=4, parent=0, title="Last words", type="conclusions", part="body"),
)


def sentence(seed: str, words: int = 18) -> str:
    """Words in an order that no other seed shares for 13 words."""
    picked = random.Random(seed).choices(WORDS, k=words)
    return f"The patient had {' '.join(picked)}."


def text(seed: str, sentences: int) -> str:
    return " ".join(sentence(f"{seed} {at}") for at in range(sentences))


def abstract(seed: str, language: str = "en", kind: str = "") -> Abstract:
    return Abstract(language=language, type=kind, text=f"Background\n{text(seed + ' abstract', 4)}")


def report(number: int, **changes: Any) -> Article:
    """An article with a figure, six long passages and an abstract that shares nothing with them."""
    name = changes.pop("id", f"pmc:PMC{number}.1")
    seed = changes.pop("seed", str(number))
    texts = [f"{text(f'{seed} body {at}', 3)[:-1]} ([F1|Fig. 1])." for at in range(2)]
    texts += [text(f"{seed} body {at}", 3) for at in range(2, 6)]
    made = article(
        texts,
        [figure(1, "Figure 1", f"Axial scan. {sentence(f'{seed} caption')}", article=name)],
        id=name,
        title=f"{sentence(f'{seed} title', 8)[:-1]}: a case report",
        sections=SECTIONS,
    )
    base = dataclasses.replace(made, abstracts=(abstract(seed),))
    return dataclasses.replace(base, **changes)


def figured(number: int, **changes: Any) -> dict[str, Any]:
    """The figure of `report`, changed."""
    return {"figures": (dataclasses.replace(report(number).figures[0], **changes),)}


def near(of: str, other: str) -> Abstract:
    """An abstract whose second half stands in another's as well."""
    halves = (
        [sentence(f"{other} own {at}") for at in range(2)],
        [sentence(f"{of} abstract {at}") for at in (2, 3)],
    )
    return Abstract(language="en", type="", text=" ".join(halves[0] + halves[1]))


def linked(doi: str, kind: str = "companion") -> tuple[RelatedArticle, ...]:
    return (RelatedArticle(type=kind, id_type="doi", target=doi),)


ND = Licence(spdx="CC-BY-ND-4.0", evidence="jats")
NC = Licence(spdx="CC-BY-NC-4.0", evidence="jats:fig/permissions")
BROKEN = (Graphic(href="a.jpg", problem="image_corrupt"),)
TWIN = {"seed": "twin"}
ONE_IMAGE = (Graphic(href="a.jpg", path="m/a.jpg", sha256="ab"),)


def twin(number: int) -> Article:
    """One of two copies: same text, image and abstract under two ids."""
    made = report(number, **TWIN)
    return dataclasses.replace(made, figures=(dataclasses.replace(made.figures[0], graphics=ONE_IMAGE),))


RICE = Abstract(language="en", type="", text="Rice leaves grew in wet fields. " * 10)

CORPUS = (
    report(1, doi="10.1234/one"),
    report(1, id="pmc:PMC1.2", seed="revised"),
    report(2, language="pt", abstracts=(abstract("2", "pt"), abstract("2 en", "en"), abstract("2 es", "es"))),
    report(3, doi="10.1234/three"),
    report(4, doi="10.1234/four", related=linked("10.1234/three")),
    report(5, abstracts=(abstract("5"), abstract("5 points", "en", "key-points"))),
    report(6, abstracts=(near("5", "6"),)),
    report(7),
    report(8, abstracts=(abstract("7"),)),
    twin(40),
    twin(41),
    report(11, id="doi:10.1234/one", doi="10.1234/one", source="folder"),
    report(12, related=linked("10.1234/hub")),
    report(13, related=linked("10.1234/hub", "commentary-article")),
    report(20, is_retracted=True),
    report(21, article_type="correction"),
    report(22, licence=ND),
    report(
        23,
        title="Leaf growth of rice",
        journal="Plant Science",
        article_type="research-article",
        passages=(),
        figures=(),
        abstracts=(RICE,),
    ),
    report(24, abstracts=()),
    report(25, abstracts=(Abstract(language="en", type="", text=sentence("25")),)),
    report(26, abstracts=(abstract("26", "en", "teaser"),)),
    report(27, abstracts=(abstract("27", "fr"),)),
    report(28, figures=()),
    report(29, **figured(29, rights="Reproduced with permission from Elsevier.")),
    report(30, **figured(30, licence=NC)),
    report(31, **figured(31, xml_id="F7", id="pmc:PMC31.1#F7", label="Figure 7")),
    report(32, passages=report(32).passages[:1]),
    report(33, **figured(33, graphics=BROKEN)),
    report(34, **figured(34, graphics=())),
)
DROPPED = {
    ("article", "pmc:PMC20.1"): "retracted",
    ("article", "pmc:PMC21.1"): "notice",
    ("article", "pmc:PMC22.1"): "licence_not_allowed",
    ("article", "pmc:PMC23.1"): "not_medical",
    ("article", "pmc:PMC24.1"): "no_abstract",
    ("article", "pmc:PMC25.1"): "no_abstract",
    ("article", "pmc:PMC26.1"): "no_abstract",
    ("article", "pmc:PMC27.1"): "no_abstract",
    ("article", "pmc:PMC28.1"): "no_figure",
    ("article", "pmc:PMC29.1"): "third_party",
    ("article", "pmc:PMC30.1"): "licence_not_allowed",
    ("article", "pmc:PMC31.1"): "no_citing_passage",
    ("article", "pmc:PMC32.1"): "short_context",
    ("abstract", "pmc:PMC5.1#abstract2"): "other_abstract",
    ("abstract", "pmc:PMC20.1#abstract1"): "retracted",
    ("abstract", "pmc:PMC21.1#abstract1"): "notice",
    ("abstract", "pmc:PMC22.1#abstract1"): "licence_not_allowed",
    ("abstract", "pmc:PMC23.1#abstract1"): "not_medical",
    ("abstract", "pmc:PMC25.1#abstract1"): "short_abstract",
    ("abstract", "pmc:PMC26.1#abstract1"): "other_abstract",
}
PICTURED = {("article", "pmc:PMC33.1"): "image_corrupt", ("article", "pmc:PMC34.1"): "no_graphic"}
ASKING = [
    *(f"pmc:PMC{number}.1" for number in (*range(1, 9), 12, 13, 33, 34, 40)),
    "pmc:PMC1.2",
    "doi:10.1234/one",
]
POSITIVE = {(name, abstract_id(name, 1)) for name in ASKING if name != "pmc:PMC8.1"} | {
    ("pmc:PMC8.1", "pmc:PMC7.1#abstract1")
}


def both(one: str, other: str, reason: str) -> set[tuple[str, str, str]]:
    return {(a, abstract_id(b, 1), reason) for a, b in ((one, other), (other, one))}


EXCLUDED = (
    both("pmc:PMC1.1", "pmc:PMC1.2", "other_version")
    | both("pmc:PMC1.1", "doi:10.1234/one", "other_version")
    | {("pmc:PMC2.1", abstract_id("pmc:PMC2.1", at), "other_language") for at in (2, 3)}
    | both("pmc:PMC3.1", "pmc:PMC4.1", "own_family")
    | both("pmc:PMC12.1", "pmc:PMC13.1", "own_family")
    | both("pmc:PMC5.1", "pmc:PMC6.1", "near_duplicate")
)


def labels(of: Article) -> list[RecordLabels]:
    """Articles 1 to 7 are of one specialty, 12 on of none; the figure of article 2 shows two modalities."""
    number = int(of.id.rpartition("PMC")[2].partition(".")[0]) if "PMC" in of.id else 99
    known = ("cardiology",) if number <= 7 else ()
    return [
        RecordLabels(id=of.id, article_id=of.id, unit="article", specialties=known),
        RecordLabels(
            id=f"{of.id}#F1",
            article_id=of.id,
            unit="figure",
            modalities=("ct", "mri") if number == 2 else ("ct",),
            regions=("thorax",),
        ),
    ]


def named(of: str, concept: str, *, in_title: bool = True) -> DocumentConcept:
    return DocumentConcept(
        article_id=of, concept=concept, name=concept, mentions=2, asserted=2, in_title=in_title
    )


GENRE = "MESH:1"
"""Case reports."""
CONCEPTS = [
    named("pmc:PMC1.1", "MONDO:1"),
    named("pmc:PMC3.1", "MONDO:1"),
    named("pmc:PMC4.1", "MONDO:1"),
    named("pmc:PMC5.1", "MONDO:1", in_title=False),
    named("pmc:PMC7.1", "MONDO:2"),
    named("pmc:PMC1.1", GENRE),
    named("pmc:PMC7.1", GENRE),
]


def write_types(path: Path) -> None:
    """Types of the concepts as a resource of the stage."""
    types = [
        ConceptType(concept=GENRE, semantic_type="T170", group="CONC"),
        *(ConceptType(concept=one, semantic_type="T047", group="DISO") for one in ("MONDO:1", "MONDO:2")),
    ]
    pq.write_table(to_table(ConceptType, types), path)


def per_article(articles: list[Article], **params: Any) -> tuple[dict[str, list[Any]], dict[Any, str]]:
    """Rows of the record stage (its accounts are checked by the runner) and its drops."""
    kept, _, _ = run_records(EXTRACT, {"parse.articles": articles}, {}, {})
    inputs: dict[str, list[Any]] = {f"extract.{name}": rows for name, rows in kept.items()}
    names = {item.id for item in articles}
    inputs |= {
        "parse.articles": articles,
        "cases.cases": [
            Case(id=f"{name}#case1", article_id=name, number=1, label="", rule="body", spans=())
            for name in sorted(names & {"pmc:PMC1.1"})
        ],
        "labels.records": [row for item in articles for row in labels(item)],
        "ground.concepts": [row for row in CONCEPTS if row.article_id in names],
        "diagnoses.diagnoses": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        types = Path(folder, "types.parquet")
        write_types(types)
        rows, drops, _ = run_records(
            TASK.per_article, inputs, {**TASK.per_article.params, **params}, {"types": types}
        )
    return rows, {(drop.unit, drop.id): str(drop.reason) for drop in drops}


def merged(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    with connect() as connection:
        for view, (table, kind) in TASK.over_all.inputs.items():
            connection.register(view, to_table(kind, rows[table.partition(".")[2]]))
        result: dict[str, list[Any]] = {}
        for name, sql in TASK.over_all.outputs.items():
            made = pa.Table.from_batches(list(select(connection, sql)), schema=arrow_schema(sql.row))
            connection.register(name, made)
            result[name] = from_table(sql.row, made)
        return result
