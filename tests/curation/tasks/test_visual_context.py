"""A set of articles whose every label is known: each rule and each drop of the task once."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from curation.extract.neutralise import restore
from curation.extract.stage import EXTRACT, extract
from curation.tasks.shared.general_words import stems
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context import larger, panels, several
from curation.tasks.visual_context.build import build, is_self_match, shares_run
from curation.tasks.visual_context.settings import Settings
from curation.tasks.visual_context.task import TASK
from curation.tasks.visual_context.vague import vagueness
from flows.engine.database import connect, select
from flows.engine.runner import run_records
from schemas.article import Article, Graphic, Licence, Section
from schemas.benchmark import Document, Excluded, Qrel, Query
from schemas.extracted import Figure, Passage, Source
from schemas.image import FigureImage
from schemas.record import arrow_schema, from_table, to_table
from schemas.stages import Drop
from tests.curation.builders import ID, article, figure

CAPTION = "Contrast-enhanced computed tomography of the chest showing a spiculated nodule."
LONG = (
    "The patient underwent imaging because of a dry cough that had lasted for six weeks and had not"
    " improved with antibiotics, bronchodilators or inhaled steroids"
)


def run(of: Article, **params: Any) -> list[Any]:
    rows = list(extract(of))
    (source,) = [row for row in rows if isinstance(row, Source)]
    figures = [row for row in rows if isinstance(row, Figure)]
    passages = [row for row in rows if isinstance(row, Passage)]
    return list(build(source, figures, passages, settings=Settings(**params)))


def drops(rows: list[Any]) -> dict[str, str]:
    return {row.id.partition("#")[2]: str(row.reason) for row in rows if isinstance(row, Drop)}


def pairs(rows: list[Any]) -> dict[str, tuple[int, str]]:
    return {row.corpus_id.partition("#")[2]: (row.score, row.rule) for row in rows if isinstance(row, Qrel)}


def excluded(rows: list[Any]) -> dict[str, str]:
    return {row.corpus_id.partition("#")[2]: row.reason for row in rows if isinstance(row, Excluded)}


def test_labels_exclusions_and_evidence_of_one_article() -> None:
    of = article(
        [
            f"{LONG} ([F1|Fig. 1]).",
            f"{LONG} ([F1|Figs 1]–[F3|3]).",
            "A nodule was seen in the upper lobe of the right lung ([F1|Fig. 1]).",
            f"{LONG}.",
            f"{LONG}. {CAPTION} This is Fig. 1.",
            f"{LONG}, as Fig. 1A shows.",
            "Too short ([F1|Fig. 1]).",
        ],
        [figure(1, "Figure 1", CAPTION), figure(2, "Figure 2", CAPTION), figure(3, "Figure 3", CAPTION)],
    )
    rows = run(of)
    query = next(row for row in rows if isinstance(row, Query) and row.source_id == f"{ID}#F1")
    mine = [row for row in rows if getattr(row, "query_id", "") == query.id]
    assert query.text == CAPTION
    assert query.image is not None and query.image.path == "m/F1.jpg"
    assert pairs(mine) == {"p1": (2, "visual_context/cites-xref@1"), "p6": (2, "visual_context/cites-text@1")}
    assert excluded(mine) == {
        "p2": "many_figures",
        "p3": "short_passage",
        "p4": "own_article",
        "p5": "self_match",
    }
    assert drops(rows) == {"p7": "short_passage", "F2": "many_figures", "F3": "many_figures"}
    texts = {passage.id: passage.text for passage in of.passages}
    for row in rows:
        if isinstance(row, Qrel):
            for evidence in row.evidence:
                assert texts[evidence.text_id][evidence.start : evidence.end] == evidence.text
                assert "Fig" in evidence.text
        if isinstance(row, Document):
            assert "Fig" not in row.text
            assert restore(row.text, row.transforms) == texts[row.id]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"graphics": ()}, "no_graphic"),
        ({"graphics": (Graphic(href="a.jpg", problem="image_missing"),)}, "image_missing"),
        ({"graphics": (Graphic(href="a.jpg", path="m/a", problem="image_corrupt"),)}, "image_corrupt"),
        ({"graphics": (Graphic(href="a.jpg", path="m/a", problem="image_too_large"),)}, "image_too_large"),
        ({"caption": ""}, "no_caption"),
        ({"caption": "Axial CT."}, "short_caption"),
        ({"caption": "Flow chart of the patients in the study."}, "vague_caption"),
        ({"caption": f"{CAPTION} Reproduced with permission from Elsevier."}, "third_party"),
        ({"licence": Licence(spdx="CC-BY-NC-4.0", evidence="jats:fig/permissions")}, "licence_not_allowed"),
    ],
)
def test_figures_that_make_no_query(changes: dict[str, Any], reason: str) -> None:
    one = dataclasses.replace(figure(1, "Figure 1", CAPTION), **changes)
    assert drops(run(article([f"{LONG} ([F1|Fig. 1])."], [one])))["F1"] == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{LONG}.", "no_citing_passage"),
        ("Seen before ([F1|Fig. 1]).", "short_passage"),
        (f"{LONG} ([F1|Fig. 1]). {CAPTION}", "self_match"),
    ],
)
def test_figures_without_an_answer(text: str, reason: str) -> None:
    assert drops(run(article([text], [figure(1, "Figure 1", CAPTION)])))["F1"] == reason


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"is_retracted": True}, "retracted"),
        ({"licence": Licence(spdx="CC-BY-NC-ND-4.0", evidence="jats")}, "licence_not_allowed"),
        ({"title": "Leaf growth of rice", "journal": "Plant Science"}, "not_medical"),
    ],
)
def test_articles_of_which_nothing_may_enter(changes: dict[str, Any], reason: str) -> None:
    of = dataclasses.replace(article([f"{LONG} ([F1|Fig. 1])."], [figure(1, "Figure 1", CAPTION)]), **changes)
    if reason == "not_medical":
        of = dataclasses.replace(of, article_type="research-article", passages=())
        assert drops(run(of)) == {"F1": reason}
    else:
        assert drops(run(of)) == {"F1": reason, "p1": reason}
    assert not [row for row in run(of) if not isinstance(row, Drop)]


def test_noncommercial_profile_and_missing_images_are_settings() -> None:
    nc = Licence(spdx="CC-BY-NC-4.0", evidence="jats")
    of = article([f"{LONG} ([F1|Fig. 1])."], [figure(1, "Figure 1", CAPTION, graphics=())], licence=nc)
    rows = run(of, licence_profile="noncommercial", require_image=False)
    assert [row.image for row in rows if isinstance(row, Query)] == [None]


def test_books_have_a_second_grade_by_section() -> None:
    sections = (
        Section(number=1, parent=0, title="Lung", part="body"),
        Section(number=2, parent=0, title="Skin", part="body"),
    )
    other = dataclasses.replace(article([f"{LONG}."], []).passages[0], id=f"{ID}#p3", section=2)
    texts = article([f"{LONG} ([F1|Fig. 1]).", f"{LONG} again."], []).passages
    of = article((*texts, other), [figure(1, "Figure 1", CAPTION)], source="openstax", sections=sections)
    rows = run(of)
    assert pairs(rows) == {
        "p1": (2, "visual_context/cites-xref@1"),
        "p2": (1, "visual_context/same-section@1"),
    }
    assert excluded(rows) == {"p3": "own_article"}


def test_pointers_in_captions_are_neutralised() -> None:
    of = article([f"{LONG} ([F1|Fig. 1])."], [figure(1, "Figure 1", f"{CAPTION} See Fig. 3 (Table 1).")])
    (query,) = [row for row in run(of) if isinstance(row, Query)]
    assert query.text == f"{CAPTION} See the figure."
    assert restore(query.text, query.transforms) == f"{CAPTION} See Fig. 3 (Table 1)."


def test_equal_figures_of_one_article_are_one_query() -> None:
    image = Graphic(href="a.jpg", path="m/a.jpg", sha256="ab")
    twins = [figure(n, f"Figure {n}", CAPTION, graphics=(image,)) for n in (1, 2)]
    rows = run(article([f"{LONG} ([F1|Fig. 1]).", f"{LONG} too ([F2|Fig. 2])."], twins))
    assert drops(rows) == {"F2": "duplicate_query"}
    assert set(pairs(rows)) == {"p1", "p2"}
    assert excluded(rows) == {}


def test_self_match_needs_thirteen_tokens_or_the_whole_caption() -> None:
    words = [f"w{n}" for n in range(20)]
    caption = " ".join(words)
    assert shares_run(caption, "x " + ", ".join(words[3:16]).upper() + " y")
    assert not shares_run(caption, "x " + " ".join(words[3:15]) + " y")
    assert shares_run("a small round nodule", "It was a small round nodule.")
    assert not shares_run("", "anything")
    assert word_count("two words") == 2
    assert word_count("患者因发热就诊") == 3
    assert is_self_match(
        "Axial CT of a large suprasellar mass with calcification.",
        f"{LONG}. The axial CT showed a large suprasellar mass with calcification.",
    )


def titled(title: str, language: str) -> Source:
    made = dataclasses.replace(article([LONG], []), title=title, language=language)
    return next(row for row in extract(made) if isinstance(row, Source))


def test_a_figure_with_its_supplements_is_one_figure() -> None:
    labels = ("Figure 1", "Figure 1—figure supplement 1", "Figure 1—figure supplement 2", "Figure 2")
    shown = [figure(at, label, CAPTION) for at, label in enumerate(labels, start=1)]
    texts = [f"{LONG} ([F1|Figure 1]; [F2|Figure 1—figure supplement 1]; [F3|supplement 2])."]
    rows = run(article(texts, shown), require_image=False)
    assert [row.parent for row in extract(article(texts, shown)) if isinstance(row, Figure)] == [
        None,
        f"{ID}#F1",
        f"{ID}#F1",
        None,
    ]
    assert {row.source_id for row in rows if isinstance(row, Query)} >= {f"{ID}#F1"}
    assert "many_figures" not in excluded(rows).values()


TITLE = "Oral steroids in children with asthma: a randomised trial"
SAID = frozenset(stems("The ACQ and spirometry were repeated in children with asthma."))


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("CONSORT flow diagram of participants in phases 1 and 2.", "plan"),
        ("Timeline of the reported case.", "plan"),
        ("Study flowchart: enrolment, randomisation and visits", "plan"),
        ("Diagram of Participant Flow Through Trial", "plan"),
        ("Fluxograma de seleção dos participantes do estudo.", "plan"),
        ("Flujograma de inclusión de los pacientes en el ensayo.", "plan"),
        ("Study flow chart. OCS, oral corticosteroids; AST asthma", "plan"),
        ("Trial profile OCS=oral steroids in asthma", "plan"),
        ("Flowchart. Footnote: OCS Labs in Asthma tested oral steroids.", "plan"),
        ("Timeline. Abbreviations: oral steroids in asthma.", "plan"),
        ("Timeline of the treatment with infliximab.", "plan"),  # not what the article is about
        ("Clinical picture at final follow-up.", "general"),
        ("One year after surgery", "general"),
        ("Distribution of the cases in both groups.", "general"),
        ("The clinical evolutions of the patients.", "general"),  # the plural of a general word
        ("Akq score at baseline and after treatment.", "general"),  # the article never says it
        ("Acq score at baseline and after treatment.", ""),
        ("Spirometry at baseline and after treatment.", ""),
        ("Flow chart of children with asthma who were screened.", ""),
        ("Timeline of the treatment with oral steroids.", ""),
        ("Doppler flow in the portal vein", ""),
        ("Axial CT shows an enhancing suprasellar mass.", ""),
        ("", ""),
    ],
)
def test_captions_that_name_no_subject(caption: str, reason: str) -> None:
    found = vagueness(caption, titled(TITLE, "en"), SAID)
    assert reason in found
    assert bool(found) is bool(reason)


def test_words_are_counted_for_english_only() -> None:
    assert not vagueness("One year after surgery", titled(TITLE, "de"), SAID)
    assert vagueness("Fluxograma do estudo", titled("Estudo de caso", "pt"), SAID)


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("RESToreX. Rest in adults with gout, a randomised trial of sleep at home.", "self_match"),
        ("Adults with gout who slept at home at the end of the RESTore trial.", ""),
        ("Uric acid of adults with gout in both groups.", ""),
    ],
)
def test_captions_give_away_neither_the_title_nor_the_name_of_the_study(caption: str, reason: str) -> None:
    of = article(
        [f"{LONG}, and urate fell in the RESTore trial ([F1|Fig. 1]).", "The RESTore trial ran for gout."],
        [figure(1, "Figure 1", caption)],
        title="Rest in adults with gout: the RESTore randomised trial of sleep at home",
    )
    rows = run(of)
    assert drops(rows).get("F1", "") == reason
    for query in (row for row in rows if isinstance(row, Query)):
        assert "RESTore" not in query.text and restore(query.text, query.transforms) == caption
    listed = merged([of], max_images=6)
    assert [row.text for row in listed["queries"]] == [row.text for row in rows if isinstance(row, Query)]


def test_captions_of_several_images_keep_the_name_of_the_study_back() -> None:
    pair = tuple(
        Graphic(href=f"{name}.jpg", name=f"{name}.jpg", path=f"m/{name}.jpg", sha256=name * 32)
        for name in ("ab", "cd")
    )
    caption = "Adults with gout in the RESTore trial."
    of = article(
        [f"{LONG}, and urate fell in RESTore adults ([F1|Fig. 1])."],
        [figure(1, "Figure 1", caption, graphics=pair)],
        title="Rest in gout: the RESTore trial",
    )
    rows = merged([of], max_images=6)["images"]
    assert {row.caption for row in rows} == {"Adults with gout in the trial."}
    assert {restore(row.caption, row.caption_transforms) for row in rows} == {caption}


def corpus() -> list[Article]:
    """Two articles with one equal passage and one equal figure, and a third that shares nothing."""
    image = Graphic(href="a.jpg", path="m/a.jpg", sha256="ab")
    made = []
    for number in (1, 2):
        name = f"pmc:PMC{number}.1"
        texts = [f"{LONG} ([F1|Fig. {number}]).", f"Own text {number}: {LONG}."]
        made.append(
            article(texts, [figure(1, f"Figure {number}", CAPTION, article=name, graphics=(image,))], id=name)
        )
    name = "pmc:PMC3.1"
    made.append(
        article(
            [f"{LONG.upper()} ([F1|Fig. 1])!"],
            [figure(1, "Figure 1", "A small lesion of the left upper lobe.", article=name)],
            id=name,
        )
    )
    return made


def merged(
    articles: list[Article], images: Sequence[FigureImage] = (), **params: Any
) -> dict[str, list[Any]]:
    kept, _, _ = run_records(EXTRACT, {"parse.articles": articles}, {}, {})
    tables: dict[str, list[Any]] = {f"extract.{name}": rows for name, rows in kept.items()}
    tables |= {"images.images": list(images)}
    left_out: list[Drop] = []
    for stage in (TASK.per_article, several.PER_ARTICLE, panels.PER_ARTICLE, larger.PER_ARTICLE):
        rows, lost, _ = run_records(stage, tables, {**stage.params, **params}, {})
        tables |= {f"{stage.name}.{name}": values for name, values in rows.items()}
        left_out += lost
    with connect() as connection:
        for view, (table, kind) in TASK.over_all.inputs.items():
            connection.register(view, to_table(kind, tables[table]))
        result: dict[str, list[Any]] = {}
        for name, sql in TASK.over_all.outputs.items():
            schema = arrow_schema(sql.row)
            made = pa.Table.from_batches(list(select(connection, sql)), schema=schema)
            connection.register(name, made)
            result[name] = from_table(sql.row, made)
        return result | {"left_out": left_out}


def test_only_clinical_images_where_the_spec_asks() -> None:
    """What is undecided is left out; passages that cite a chart as well are about both, as before."""
    of = article(
        [f"{LONG} ([F1|Fig. 1]).", f"{LONG} again ([F2|Fig. 2]).", f"{LONG} ([F1|Figs 1], [F2|2] [F3|3])."],
        [
            figure(1, "Figure 1", CAPTION),
            figure(2, "Figure 2", CAPTION[:-1] + " twice."),
            figure(3, "Figure 3"),
        ],
    )
    rows = list(extract(of))
    (source,) = [row for row in rows if isinstance(row, Source)]
    figures = [row for row in rows if isinstance(row, Figure)]
    passages = [row for row in rows if isinstance(row, Passage)]
    kinds = {"F1": "radiology", "F2": "chart", "F3": ""}
    images = [
        FigureImage(
            id=f"{one.id}/1", article_id=ID, figure_id=one.id, sha256=one.graphics[0].sha256 or "", path="",
            format="jpeg", mode="L", width=9, height=9, is_fitting=True, phash="0" * 16, thumbnail="",
            kind=kinds[one.id.partition("#")[2]],
        )
        for one in figures
    ]  # fmt: skip
    settings = Settings(clinical_only=True)
    made = list(build(source, figures, passages, images, settings=settings))
    assert [row.source_id for row in made if isinstance(row, Query)] == [f"{ID}#F1"]
    told = {row.id: (str(row.reason), row.detail) for row in made if isinstance(row, Drop)}
    assert told == {
        f"{ID}#F2": ("no_clinical_image", "kind chart"),
        f"{ID}#F3": ("no_clinical_image", "kind undecided"),
    }
    assert excluded(made)["p3"] == "many_figures"


def test_shards_merge_to_one_query_and_one_document_each() -> None:
    found = merged(corpus())
    assert [query.source_id for query in found["queries"]].count("pmc:PMC1.1#F1") == 1
    assert len(found["queries"]) == 2
    dropped = {(drop.unit, drop.id, str(drop.reason), drop.detail) for drop in found["drops"]}
    assert dropped == {
        ("query", "pmc:PMC2.1#F1", "duplicate_query", "pmc:PMC1.1#F1"),
        ("document", "pmc:PMC2.1#p1", "duplicate_document", "pmc:PMC1.1#p1"),
        ("document", "pmc:PMC3.1#p1", "duplicate_document", "pmc:PMC1.1#p1"),
    }
    documents = {document.id for document in found["documents"]}
    assert documents == {"pmc:PMC1.1#p1", "pmc:PMC1.1#p2", "pmc:PMC2.1#p2"}
    assert {qrel.corpus_id for qrel in found["qrels"]} == {"pmc:PMC1.1#p1"}
    assert {qrel.query_id for qrel in found["qrels"]} == {query.id for query in found["queries"]}
    assert {row.corpus_id for row in found["excluded"]} == {"pmc:PMC1.1#p2", "pmc:PMC2.1#p2"}
    assert {row.query_id for row in found["excluded"]} <= {query.id for query in found["queries"]}


def test_merging_does_not_depend_on_the_order_of_articles() -> None:
    assert merged(corpus()) == merged(corpus()[::-1])


def test_every_unit_is_accounted_for() -> None:
    rows = run(corpus()[0])
    kept = Counter(row.source_id for row in rows if isinstance(row, Query))
    kept += Counter(row.id for row in rows if isinstance(row, (Document, Drop)))
    assert kept == Counter(["pmc:PMC1.1#F1", "pmc:PMC1.1#p1", "pmc:PMC1.1#p2"])


MRI = "Axial T2-weighted magnetic resonance imaging of the same nodule after two courses of treatment."
STAIN = "Section of the resected specimen stained with haematoxylin and eosin (see Fig. 1)."


def several_figures() -> Article:
    """Figures cited alone, in pairs, all three, and one of two images."""
    pair = tuple(
        Graphic(href=f"{name}.jpg", name=f"{name}.jpg", path=f"m/{name}.jpg", sha256=name * 32)
        for name in ("ab", "cd")
    )
    return article(
        [
            f"{LONG} ([F1|Fig. 1]).",
            f"{LONG} ([F1|Fig. 1]). Later he was seen again and imaged once more ([F2|Fig. 2]).",
            f"In the end all were compared. {LONG} ([F1|Figs 1]–[F3|3]).",
            f"Nothing is cited here. {LONG}.",
            "Both of them were seen by a radiologist and by two surgeons ([F1|Fig. 1]; [F2|Fig. 2]).",
            f"{LONG}. The specimen was stained with haematoxylin ([F3|Fig. 3]), and {MRI} ([F2|Fig. 2]).",
        ],
        [
            figure(1, "Figure 1", CAPTION),
            figure(2, "Figure 2", MRI),
            figure(3, "Figure 3", STAIN, graphics=pair),
        ],
    )


def test_figures_that_are_cited_together_are_asked_for_together() -> None:
    found = merged([several_figures()], max_images=6)
    asked = {query.source_id.partition("#")[2]: query for query in found["queries"]}
    assert asked.keys() == {"F1", "F2", "F3", "F1+F2", "F1+F2+F3"}

    def told(name: str) -> tuple[dict[str, tuple[int, str]], dict[str, str]]:
        mine = asked[name].id
        rows = [row for row in (*found["qrels"], *found["excluded"]) if row.query_id == mine]
        return pairs(rows), excluded(rows)

    assert told("F1+F2") == (
        {"p2": (2, several.CITES_ALL)},
        {
            "p1": "cites_some",
            "p3": "many_figures",
            "p4": "own_article",
            "p5": "short_passage",
            "p6": "cites_some",
        },
    )
    labels, aside = told("F1+F2+F3")
    assert labels == {"p3": (2, several.CITES_ALL)}
    assert Counter(aside.values()) == {"cites_some": 4, "own_article": 1}
    reasons = {
        row.id.partition("#")[2]: str(row.reason) for row in found["left_out"] if row.unit == "figure_set"
    }
    assert reasons == {"F2+F3": "self_match"}
    query = asked["F1+F2+F3"]
    assert query.text.split("\n")[0] == CAPTION and "Fig. 1" not in query.text
    assert restore(query.text, query.transforms) == "\n".join((CAPTION, MRI, STAIN))
    evidence = next(row.evidence for row in found["qrels"] if row.query_id == asked["F1+F2"].id)
    assert len(evidence) == 2 and "Fig. 2" in evidence[1].text


def test_every_image_is_listed_in_the_order_of_the_article() -> None:
    found = merged([several_figures()], max_images=6)
    names = {query.id: query.source_id.partition("#")[2] for query in found["queries"]}
    listed: dict[str, list[str]] = {}
    for row in found["images"]:
        assert row.side == "query" and row.caption and restore(row.caption, row.caption_transforms)
        listed.setdefault(names[row.id], []).append(f"{row.figure_id.partition('#')[2]}/{row.graphic_number}")
    assert listed == {
        "F3": ["F3/1", "F3/2"],
        "F1+F2": ["F1/1", "F2/1"],
        "F1+F2+F3": ["F1/1", "F2/1", "F3/1"],
    }
    first = {row.id: row.image.sha256 for row in found["images"] if row.position == 1}
    shown = {query.id: query.image.sha256 for query in found["queries"] if query.id in first}
    assert first == shown


def test_more_figures_than_asked_for_make_no_query() -> None:
    found = merged([several_figures()], max_images=2)
    left = {
        row.id.partition("#")[2]: str(row.reason) for row in found["left_out"] if row.unit == "figure_set"
    }
    assert left == {"F1+F2+F3": "many_figures", "F2+F3": "self_match"}


def test_what_is_made_of_single_figures_does_not_depend_on_it() -> None:
    one, many = merged([several_figures()]), merged([several_figures()], max_images=6)
    assert not one["images"] and not any(row.unit == "figure_set" for row in one["left_out"])
    assert [row for row in many["queries"] if "+" not in row.source_id] == one["queries"]
    single = {row.id for row in one["queries"]}
    for table in ("qrels", "excluded"):
        assert [row for row in many[table] if row.query_id in single] == one[table]
    assert many["documents"] == one["documents"]
