"""An invented textbook and two reports, and all stages of crosslingual_qa over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.tasks.crosslingual_qa.task import TASK
from flows.engine.database import run_set_stage
from flows.engine.runner import run_records
from schemas.article import Abstract, Article, Licence, Translated
from schemas.concept import DocumentConcept, Mention
from schemas.extracted import Figure, Passage, Source
from schemas.hashing import sha256_text
from schemas.record import from_table, to_table
from schemas.stages import Drop, RecordStage
from schemas.vocabulary import ConceptName, ConceptRelation, ConceptType, Tier, VocabularySource

BOOK = "openstax:inventions/m1"
GOUT, FEVER, KIND, TOE = "INV:1", "INV:2", "INV:3", "INV:4"
NAMES: tuple[tuple[str, str, str, str, Tier], ...] = (
    (GOUT, "gout", "en", "PT", "open"),
    (GOUT, "Gicht", "de", "CAND", "terms"),
    (GOUT, "gota", "es", "PT", "terms"),
    (GOUT, "goutte", "fr", "PT", "terms"),
    (GOUT, "痛風", "ja", "PT", "terms"),
    (GOUT, "gota úrica", "pt", "PT", "restricted"),
    (GOUT, "痛风", "zh", "PT", "terms"),
    (KIND, "podagra", "en", "PT", "open"),
    (KIND, "足痛风", "ja", "PT", "terms"),
    (FEVER, "marsh fever", "en", "PT", "open"),
    (TOE, "redtoe", "en", "PT", "open"),
)
SOURCES: dict[Tier, tuple[str, str]] = {
    "open": ("INVENTED", "CC-BY-4.0"),
    "terms": ("INVENTED_T", "Terms of the inventor"),
    "restricted": ("INVENTED_R", "Terms of the miser"),
}
PASSAGES = (
    (("Gout", "Treatment"), "Attacks of gout are relieved by rest, and colchicine is given within one day."),
    (("Gout", "Causes"), "In gout, crystals of an acid that the kidneys do not pass settle in a joint."),
    (("Gout",), "Gout is a disease of joints that was known to physicians of antiquity long before."),
    (("Gout",), "Statues of kings with gout were often carved with one foot upon a low cushion."),
    (("Gout", "Podagra"), "Podagra is characterized by a hot swollen toe that wakes the sleeper at night."),
    (
        ("Marsh fever", "Treatment"),
        "Marsh fever is treated with bark; those with gout need a smaller amount of it.",
    ),
    (
        ("Marsh fever",),
        "La fiebre de los pantanos se trata con corteza y reposo durante varios días seguidos.",
    ),
    (
        ("Gout", "Podagra", "Redtoe"),
        "Redtoe is characterized by a red toe at dawn, and by a red nose at dusk.",
    ),
)


def written(mention: str, text: str, place: str, concept: str) -> list[Mention]:
    """Every place of a name in a text."""
    found, at = [], text.lower().find(mention)
    while at >= 0:
        words = text[at : at + len(mention)]
        found.append(
            Mention(
                article_id=BOOK,
                text_id=place,
                start=at,
                end=at + len(mention),
                text=words,
                concept=concept,
                name=mention,
            )
        )
        at = text.lower().find(mention, at + 1)
    return found


def of_book(texts: Sequence[tuple[tuple[str, ...], str]]) -> tuple[list[Passage], list[Mention]]:
    """Passages of the textbook, and what they name."""
    passages, mentions = [], []
    for number, (path, text) in enumerate(texts, 1):
        passage = Passage(
            id=f"{BOOK}#p{number}", article_id=BOOK, number=number, section=number, section_path=path,
            text=text, text_sha256=sha256_text(text), language="es" if text.startswith("La ") else "en",
        )  # fmt: skip
        passages.append(passage)
        for concept, name in ((GOUT, "gout"), (KIND, "podagra"), (FEVER, "marsh fever"), (TOE, "redtoe")):
            mentions += written(name, text, passage.id, concept)
    return passages, mentions


def rows() -> dict[str, list[Any]]:
    """The textbook as extracted and grounded."""
    source = Source(
        id=BOOK, title="Joints and fevers", language="en", is_book=True, raw_sha256="0" * 64,
        licence=Licence(spdx="CC-BY-4.0", evidence="invented"),
    )  # fmt: skip
    passages, mentions = of_book(PASSAGES)
    return {
        "extract.sources": [source, *in_two_languages("extract.sources")],
        "extract.passages": passages,
        "ground.mentions": mentions + of_report(),
        **{name: in_two_languages(name) for name in ("parse.articles", "extract.figures", "ground.concepts")},
    }


REPORT, LETTER = "doi:10.1/report", "doi:10.1/letter"
ABSTRACT = "A man of fifty had a hot toe for three days.\nRest and colchicine relieved the attack of gout."
RESUMEN = "Un hombre de cincuenta años tuvo un dedo caliente durante tres días.\nEl reposo alivió la gota."


def abstract(language: str, text: str) -> Abstract:
    return Abstract(language=language, type="", text=text)


def in_two_languages(table: str) -> list[Any]:
    """A report with a Spanish title, abstract and caption; a letter whose title says the same in English."""
    licence = Licence(spdx="CC-BY-4.0", evidence="invented")
    title, hot = (
        "Acute gout of the great toe in a man of fifty",
        "The toe of a man with gout on the third day",
    )
    spanish = [
        Translated(language="es", text="Gota aguda del dedo gordo en un hombre de cincuenta años"),
        Translated(language="pt", text="Erratum"),
        Translated(language="fr", text="Acute gout of the great toe in a man of fifty"),
    ]
    bare = (Translated(language="es", text="Un mapa de la isla en la que vive el hombre"),)
    captions = (Translated(language="es", text="El dedo de un hombre con gota en el tercer día"),)
    sources = [
        Source(id=name, title=title, language="en", licence=licence, raw_sha256="0" * 64)
        for name in (REPORT, LETTER)
    ]
    articles = [
        Article(
            id=name, source="folder", language="en", title=said, licence=licence, raw_sha256="0" * 64,
            translated_titles=tuple(spanish) if name == REPORT else (), abstracts=abstracts,
        )
        for name, said, abstracts in (
            (REPORT, title, (abstract("en", ABSTRACT), abstract("es", RESUMEN))),
            (LETTER, "On gout and toes", (abstract("es", RESUMEN.replace("tres", "cuatro")),)),
        )
    ]  # fmt: skip
    figure = Figure(
        id=f"{REPORT}#F1", article_id=REPORT, number=1, caption=hot, section=1, licence=licence,
        translations=captions,
    )  # fmt: skip
    island = Figure(
        id=f"{REPORT}#F2", article_id=REPORT, number=2, caption="A map of the island where the man lives",
        section=1, licence=licence, translations=bare,
    )  # fmt: skip
    named = [
        DocumentConcept(article_id=REPORT, concept=GOUT, name="gout", mentions=2, asserted=2, in_title=True),
        DocumentConcept(article_id=REPORT, concept=FEVER, name="marsh fever", mentions=1, asserted=1),
    ]
    made: dict[str, list[Any]] = {
        "extract.sources": sources, "parse.articles": articles, "extract.figures": [figure, island],
        "ground.concepts": named,
    }  # fmt: skip
    return made[table]


def of_report() -> list[Mention]:
    """What the report names: gout in its title, and in two more texts; a fever in its body alone."""
    return [
        Mention(
            article_id=REPORT, text_id=f"{REPORT}#{place}", start=0, end=len(words), text=words,
            concept=concept, name=words,
        )
        for place, words, concept in (("title", "gout", GOUT), ("p1", "marsh fever", FEVER))
    ]  # fmt: skip


def write_vocabulary(folder: Path) -> dict[str, Path]:
    """Tables of the invented vocabulary."""
    names = [
        ConceptName(
            concept=concept,
            name=name,
            language=language,
            term_type=kind,
            tier=tier,
            is_preferred=True,
            source=SOURCES[tier][0],
            restriction=3 if tier == "restricted" else 0,
        )
        for concept, name, language, kind, tier in sorted(NAMES)
    ]
    types = [ConceptType(concept=c, semantic_type="T047", group="DISO") for c in (GOUT, FEVER, KIND, TOE)]
    above = [
        ConceptRelation(concept=low, relation="parent", other=high, source="INVENTED")
        for low, high in ((KIND, GOUT), (TOE, KIND))
    ]
    sources = [
        VocabularySource(
            source=name, title=name, release="2026-01", licence=licence, tier=tier, sha256="0" * 64
        )
        for tier, (name, licence) in SOURCES.items()
    ]
    paths = {name: folder / f"{name}.parquet" for name in ("names", "types", "relations", "sources")}
    pq.write_table(to_table(VocabularySource, sources), paths["sources"])
    pq.write_table(to_table(ConceptName, names), paths["names"])
    pq.write_table(to_table(ConceptType, types), paths["types"])
    pq.write_table(to_table(ConceptRelation, above), paths["relations"])
    return paths


def run(
    vocabulary: dict[str, Path], folder: Path, given: dict[str, list[Any]] | None = None, **params: Any
) -> dict[str, list[Any]]:
    """All stages of the task, one after the other; drops of all together."""
    tables: dict[str, list[Any]] = {**rows(), **(given or {})}
    drops: list[Drop] = []
    for stage in TASK.stages:
        if isinstance(stage, RecordStage):
            inputs = {item.table: tables[item.table] for item in stage.inputs}
            resources = {name: vocabulary[name] for name in stage.resources}
            kept, lost, _ = run_records(
                stage, inputs, {**stage.params, "min_document_words": 5, **params}, resources
            )
            drops += lost
            tables |= {f"{stage.name}.{name}": made for name, made in kept.items()}
            continue
        views = {}
        for view, (table, kind) in stage.inputs.items():
            views[view] = [folder / f"{table}.parquet"]
            pq.write_table(to_table(kind, tables[table]), views[view][0])
        out = folder / stage.name / "all"
        out.mkdir(parents=True, exist_ok=True)
        chosen = {name: value for name, value in params.items() if name in stage.params}
        made, _, _ = run_set_stage(stage, views, out, "1GB", chosen)
        for name, sql in stage.outputs.items():
            file = made["_dropped" if name == "drops" else name].file
            tables[f"{stage.name}.{name}"] = from_table(sql.row, pq.read_table(out / file))
        drops += tables.get(f"{stage.name}.drops", [])
    return {name.rpartition(".")[2]: found for name, found in tables.items()} | {"drops": drops}
