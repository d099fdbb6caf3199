"""A small synthetic literature with drawn images whose every label of image search is known."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from curation.extract.stage import EXTRACT
from curation.images.stage import IMAGES
from curation.labels.stage import LABELS
from flows.engine.runner import run_records
from schemas.article import Article, Graphic, Licence, Section
from schemas.case import Case, CaseSpan
from schemas.concept import Mention
from schemas.diagnosis import PrincipalDiagnosis
from schemas.extracted import Figure, Passage
from schemas.hashing import sha256_bytes
from schemas.image import FigureImage
from schemas.record import to_table
from schemas.vocabulary import ConceptType
from tests.curation.builders import article, figure

TUMOUR = "MONDO:0016642"
HISTORY = (
    "A woman of 54 years came with headache that had lasted for three months and with two seizures in the"
    " last week, and her husband told of slowed speech and of a change in her mood since the summer."
)
FINDINGS = (
    "On examination she was drowsy without palsy. Computed tomography showed a mass ([F1|Fig. 1]). Another"
    " slice is given ([F2|Fig. 2]). The chest was imaged ([F3|Fig. 3]). Tissue was taken ([F4|Fig. 4])."
)
LAST_SCAN = "Magnetic resonance was done a year later. It was clear"
COURSE = f"She was operated on. {LAST_SCAN} ([F6|Fig. 6]). She went home."
HELD = {
    "F1": "Axial CT of the brain showing a left frontal meningioma (see Fig. 2).",
    "F2": "Coronal CT of the brain showing a cavity after removal of the meningioma.",
    "F3": "Axial CT of the chest with a nodule in the right lung.",
    "F4": "Histology of the frontal meningioma of the brain, H&E stain with whorls of cells.",
    "F6": "Sagittal contrast MRI of the brain with a dural tail.",
    "F7": "Normal axial CT of the brain of a healthy volunteer for comparison.",
}
LONG = "Axial CT of the liver with many cysts. " * 30
KINDS = {"F4": "pathology", "F5": "diagram"}


@dataclass
class World:
    """Rows of all input tables of the task, and files of the images under `raw`."""

    raw: Path
    articles: list[Article] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    diagnoses: list[PrincipalDiagnosis] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    def picture(self, name: str, seed: int, form: str = "PNG") -> Graphic:
        """A grey image of smooth random blobs; `form` JPEG gives other bytes of the same look."""
        rng = np.random.default_rng(seed)
        small = Image.fromarray(rng.integers(0, 255, (9, 9), dtype=np.uint8))
        out = io.BytesIO()
        small.resize((256, 256), Image.Resampling.BICUBIC).save(out, form, quality=95)
        path = self.raw / "m" / f"{name}.{form.lower()}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(out.getvalue())
        relative = path.relative_to(self.raw).as_posix()
        return Graphic(href=path.name, name=path.name, path=relative, sha256=sha256_bytes(out.getvalue()))

    def add_case(self, of: str, number: int, spans: dict[str, str], figures: tuple[str, ...]) -> None:
        """A case of passages (id number -> role) and figures."""
        (owner,) = [item for item in self.articles if item.id == of]
        texts = {item.id: item.text for item in owner.passages}
        places = tuple(
            CaseSpan(passage_id=f"{of}#{name}", start=0, end=len(texts[f"{of}#{name}"]), role=role)  # type: ignore[arg-type]
            for name, role in spans.items()
        )
        shown = tuple(f"{of}#{name}" for name in figures)
        one = Case(id=f"{of}#case{number}", article_id=of, number=number, label="", rule="section",
                   spans=places, figures=shown)  # fmt: skip
        self.cases.append(one)
        self.diagnoses.append(
            PrincipalDiagnosis(
                case_id=one.id, article_id=of, concept=TUMOUR, name="Meningioma", confidence=1.0
            )
        )

    def types(self) -> Path:
        """Types of the concepts as a resource of the stage."""
        path = self.raw / "types.parquet"
        kinds = {"MONDO:0005315": ("T037", "DISO"), "MESH:D004636": ("T058", "PROC"),
                 "MESH:D006658": ("T004", "LIVB"), "MESH:D014684": ("T023", "ANAT")}  # fmt: skip
        rows = [ConceptType(concept=name, semantic_type=kind, group=group)
                for name, (kind, group) in kinds.items()]  # fmt: skip
        pq.write_table(to_table(ConceptType, rows), path)
        return path

    def tables(self) -> dict[str, list[Any]]:
        """What the task reads, made by the real stages; OCR and classifier stand in `seen`."""
        kept, _, _ = run_records(EXTRACT, {"parse.articles": self.articles}, {}, {})
        tables: dict[str, list[Any]] = {f"extract.{name}": rows for name, rows in kept.items()}
        made, _, _ = run_records(IMAGES, tables, IMAGES.params, {"raw": self.raw})
        images = [
            replace(row, **{"kind": "radiology", "text": "", **self.seen.get(row.id, {})})
            for row in made["images"]
        ]
        tables |= {
            "parse.articles": self.articles,
            "cases.cases": self.cases,
            "images.images": images,
            "ground.mentions": self.mentions,
            "diagnoses.diagnoses": self.diagnoses,
        }
        labels, _, _ = run_records(LABELS, tables, {}, {})
        return tables | {f"labels.{name}": rows for name, rows in labels.items()}


def _texts(*more: str) -> list[str]:
    return [HISTORY, FINDINGS, COURSE, *more]


def world(raw: Path) -> World:
    """The articles: one whole case, one of drops, one of copies, three that are barred, one of two cases."""
    made = World(raw)
    _whole(made)
    _drops(made)
    _copies(made)
    _barred(made)
    _two_cases(made)
    return made


def _whole(made: World) -> None:
    """Labels: own image, same case, other region, other modality, figure of no case, diagram."""
    own = "pmc:PMC1.1"
    figures = []
    for at, (name, caption) in enumerate(
        {**HELD, "F5": "Flow chart of the course of the patient."}.items(), 1
    ):
        graphics = [made.picture(f"1{name}", 100 + at)]
        if name == "F6":
            graphics.append(made.picture("1F6b", 150))
        figures.append(
            figure(at, f"Fig. {name[1:]}", caption, article=own, xml_id=name, graphics=tuple(graphics))
        )
        if name in KINDS:
            made.seen[f"{own}#{name}/1"] = {"kind": KINDS[name]}
    made.seen[f"{own}#F2/1"] = {"text": "R 120 kV", "flags": ("face_unchecked", "text")}
    made.articles.append(article(_texts(), figures, id=own, title="Meningioma of the brain: a case report"))
    made.add_case(
        own, 1, {"p1": "presentation", "p2": "findings", "p3": "course"}, ("F1", "F2", "F3", "F4", "F5", "F6")
    )


def _drops(made: World) -> None:
    """One figure for every reason to leave out an image or a caption."""
    own = "pmc:PMC2.1"
    brain = "Axial CT of the brain showing a mass of the frontal lobe"
    other = Licence(spdx="CC-BY-NC-4.0", evidence="jats:fig/permissions")
    missing = (Graphic(href="gone.jpg", problem="image_missing"),)
    spec: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "F1": (f"{brain}. Reproduced with permission from Elsevier.", {}, {}),
        "F2": (f"{brain} on day two.", {"licence": other}, {}),
        "F3": (f"{brain} on day three.", {"graphics": missing}, {}),
        "F4": (f"{brain} on day four.", {"graphics": ()}, {}),
        "F5": ("", {}, {}),
        "F6": ("CT of the brain.", {}, {}),
        "F7": (LONG, {}, {}),
        "F8": ("CT scan obtained on the second day of the stay.", {}, {}),
        "F9": (f"{brain} on day nine.", {}, {"kind": "chart"}),
        "F10": (f"{brain} on day ten.", {}, {"flags": ("face",)}),
        "F11": (f"{brain} on day eleven.", {}, {"text": "Dx: MENINGIOMA L", "flags": ("text",)}),
        "F12": (f"{brain} on day twelve.", {}, {"text": "A: axial CT of the brain", "flags": ("text",)}),
        "F13": ("Photograph of the founder of the hospital in his study.", {}, {"kind": "photograph"}),
        "F14": ("Treatment schedule with CT of the brain at each visit.", {}, {"kind": ""}),
        "F15": (f"{brain} and its scan on day fifteen.", {}, {"kind": ""}),
        "F16": (f"{brain} on day sixteen.", {}, {"flags": ("sensitive",)}),
        "F17": ("Bottle and syringes of the drug against oedema of the brain.", {}, {"kind": "photograph"}),
        "F18": ("Fatigue and survival curves of both arms of the brain trial.", {}, {}),
        "F19": ("Axial CT of the brain of the patient.", {}, {}),
        "F20": ("CT scan of day twenty showing the fracture.", {}, {}),
        "F22": ("ECG showing sinus rhythm on day twenty-two.", {}, {"kind": "signal"}),
        "F21": ("CT scan of day twenty-one showing the burst fracture.", {}, {}),
    }
    made.mentions += [
        Mention(article_id=own, text_id=f"{own}#{name}", start=start, end=start + len(said), text=said,
                concept="MONDO:0005315", name=said)
        for name, said in (("F20", "fracture"), ("F21", "burst fracture"))
        for start in [spec[name][0].index(said)]
    ]  # fmt: skip
    figures = []
    for at, (name, (caption, more, seen)) in enumerate(spec.items(), 1):
        given = {"graphics": (made.picture(f"2{name}", 200 + at),), **more}
        figures.append(figure(at, f"Fig. {at}", caption, article=own, xml_id=name, **given))
        if seen:
            made.seen[f"{own}#{name}/1"] = seen
    made.articles.append(article([HISTORY], figures, id=own, title="A mass of the brain: a case report"))
    made.add_case(own, 1, {"p1": "course"}, ("F11",))


def _copies(made: World) -> None:
    """The same bytes, the same look, a near look, and a caption that another article has."""
    own = "pmc:PMC3.1"
    near = made.picture("3F3", 303)
    figures = [
        figure(1, "Fig. 1", "Head CT before surgery with a frontal mass.", article=own,
               graphics=(made.picture("3F1", 101),)),
        figure(2, "Fig. 2", "Coronal CT of the head with a resection cavity.", article=own,
               graphics=(made.picture("3F2", 102, "JPEG"),)),
        figure(3, "Fig. 3", "Coronal CT of the abdomen showing the liver.", article=own, graphics=(near,)),
        figure(4, "Fig. 4", HELD["F3"].upper(), article=own, graphics=(made.picture("3F4", 304),)),
    ]  # fmt: skip
    made.articles.append(article(["She went home."], figures, id=own, title="Meningioma of the brain again"))


def _barred(made: World) -> None:
    """Retracted, of a licence that forbids, and not about people: nothing of them enters."""
    closed = Licence(spdx="CC-BY-ND-4.0", evidence="jats:license/@href")
    more: dict[str, dict[str, Any]] = {
        "pmc:PMC4.1": {"is_retracted": True},
        "pmc:PMC5.1": {"licence": closed},
        "pmc:PMC6.1": {"title": "Lung cancer in a dog: a case report"},
    }
    for at, (own, changes) in enumerate(more.items(), 1):
        shown = figure(
            1, "Fig. 1", f"{HELD['F1']} {at}", article=own, graphics=(made.picture(f"b{at}", 400 + at),)
        )
        given = {"title": "Meningioma of the brain: a case report", **changes}
        text = "The dog was taken to the veterinary clinic." if at == 3 else HISTORY
        made.articles.append(article([text], [shown], id=own, **given))
        made.add_case(own, 1, {"p1": "presentation"}, ("F1",))


def _two_cases(made: World) -> None:
    """A case with an image; one whose story is short; one that shares a figure with the first."""
    own = "pmc:PMC7.1"
    figures = [
        figure(1, "Fig. 1", "Chest radiograph of Case 1 with a cavity of the lung.", article=own,
               graphics=(made.picture("7F1", 701),)),
        figure(2, "Fig. 2", "Chest radiograph of Case 2 with a cavity of the lung.", article=own,
               graphics=(made.picture("7F2", 702),)),
    ]  # fmt: skip
    third = HISTORY.replace("woman of 54", "man of 61")
    sections = (Section(number=1, parent=0, title="Cases", part="body"),)
    made.articles.append(
        article([HISTORY.replace("54", "37"), "He coughed.", third], figures, id=own,
                title="Cavities of the lung: case reports", sections=sections)
    )  # fmt: skip
    made.add_case(own, 1, {"p1": "presentation"}, ("F1",))
    made.add_case(own, 2, {"p2": "presentation"}, ("F2",))
    made.add_case(own, 3, {"p3": "presentation"}, ())


def rows_of(tables: dict[str, list[Any]], kind: type) -> dict[str, Any]:
    """Figures, passages or images by id."""
    names = {Figure: "extract.figures", Passage: "extract.passages", FigureImage: "images.images"}
    return {row.id: row for row in tables[names[kind]]}
