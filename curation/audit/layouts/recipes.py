"""Recipes of named public benchmarks: which of their fields are question, options, answer, passage, image.

No text of theirs is here. Field names are those of the documentation each recipe cites; a file that lacks one
is refused with what was expected and what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.errors import UsageError

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """One way a benchmark's rows are written. Fields are paths: `context.contexts` goes through lists too.

    A row is a question with its image and what is beside it, or, with `text`, a caption with its image.
    `nested` rows are one level deeper: {"medqa": {"0000": row}}.
    """

    what: str
    id: str = ""
    question: str = ""
    text: str = ""
    image: str = ""
    options: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    """Names it goes by; a row has one of them, or none."""
    passages: tuple[str, ...] = ()
    nested: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """Top-level fields every row must have."""
        paths = (self.question, self.text, self.image, *self.options, *self.passages)
        return tuple(dict.fromkeys(path.partition(".")[0] for path in paths if path))


@dataclass(frozen=True, slots=True)
class Recipe:
    """A public benchmark and the forms it is distributed in; `layout` reads query, corpus and qrels files."""

    name: str
    title: str
    source: str
    forms: tuple[Form, ...] = ()
    layout: str = ""


RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "medqa",
        "MedQA",
        "https://huggingface.co/datasets/GBaker/MedQA-USMLE-4-options",
        (Form("JSON Lines", question="question", options=("options",), answer=("answer",)),),
    ),
    Recipe(
        "medmcqa",
        "MedMCQA",
        "https://huggingface.co/datasets/openlifescienceai/medmcqa",
        (
            Form(
                "JSON Lines or Parquet",
                id="id",
                question="question",
                options=("opa", "opb", "opc", "opd"),
                answer=("exp",),
            ),
        ),
    ),
    Recipe(
        "pubmedqa",
        "PubMedQA",
        "https://github.com/pubmedqa/pubmedqa",
        (
            Form(
                "JSON by PMID", id="_id", question="QUESTION", answer=("LONG_ANSWER",), passages=("CONTEXTS",)
            ),
            Form(
                "Parquet (huggingface.co/datasets/qiaojin/PubMedQA)",
                id="pubid",
                question="question",
                answer=("long_answer",),
                passages=("context.contexts",),
            ),
        ),
    ),
    Recipe(
        "bioasq",
        "BioASQ task B",
        "http://participants-area.bioasq.org/general_information/Task13b",
        (
            Form(
                "JSON with a list `questions`",
                id="id",
                question="body",
                answer=("ideal_answer",),
                passages=("snippets.text",),
            ),
        ),
    ),
    Recipe(
        "mirage",
        "MIRAGE",
        "https://github.com/Teddy-XiongGZ/MIRAGE",
        (
            Form(
                "benchmark.json, by dataset and id",
                id="_id",
                question="question",
                options=("options",),
                nested=True,
            ),
        ),
    ),
    Recipe(
        "r2med",
        "R2MED",
        "https://github.com/R2MED/R2MED",
        layout="query(id, text), corpus(id, text) as JSON Lines or Parquet, qrels(q_id, p_id, score)",
    ),
    Recipe(
        "vqa-rad",
        "VQA-RAD",
        "https://huggingface.co/datasets/flaviagiammarino/vqa-rad",
        (
            Form(
                "VQA_RAD Dataset Public.json beside its image folder",
                id="qid",
                question="question",
                image="image_name",
                answer=("answer",),
            ),
            Form("Parquet", question="question", image="image", answer=("answer",)),
        ),
    ),
    Recipe(
        "slake",
        "SLAKE",
        "https://huggingface.co/datasets/BoKelvin/SLAKE",
        (
            Form(
                "JSON beside imgs/ or imgs.zip",
                id="qid",
                question="question",
                image="img_name",
                answer=("answer",),
            ),
        ),
    ),
    Recipe(
        "pathvqa",
        "PathVQA",
        "https://huggingface.co/datasets/flaviagiammarino/path-vqa",
        (Form("Parquet", question="question", image="image", answer=("answer",)),),
    ),
    Recipe(
        "pmc-vqa",
        "PMC-VQA",
        "https://huggingface.co/datasets/xmcmic/PMC-VQA",
        (
            Form(
                "CSV beside images.zip",
                question="Question",
                image="Figure_path",
                options=("Choice A", "Choice B", "Choice C", "Choice D"),
                answer=("Answer", "Anwser"),
            ),
        ),
    ),
    Recipe(
        "roco",
        "ROCO and ROCOv2",
        "https://huggingface.co/datasets/eltorio/ROCOv2-radiology",
        (
            Form("ROCO: CSV beside an image folder", id="id", text="caption", image="name"),
            Form("ROCOv2: Parquet", id="image_id", text="caption", image="image"),
            Form("ROCOv2: CSV beside an image folder", id="ID", text="Caption", image="ID"),
        ),
    ),
)


def recipe_of(name: str) -> Recipe:
    """A recipe by its name.

    Raises:
        UsageError: there is none of that name.
    """
    for recipe in RECIPES:
        if recipe.name == name.lower():
            return recipe
    known = ", ".join(recipe.name for recipe in RECIPES)
    raise UsageError(f"no recipe {name!r}", hint=f"one of: {known}; any other dataset: leave --recipe out")


def rows_of(form: Form, record: Record) -> Iterator[Record]:
    """A record's rows: itself, or those nested in it with `<key>/<key>` as id."""
    if not form.nested:
        yield record
        return
    for key, row in record.items():
        if isinstance(row, dict):
            yield {"_id": f"{record.get('_id', '')}/{key}", **row}


def form_of(recipe: Recipe, record: Record, file: str) -> Form | None:
    """The form a file is in by its first record; None when it has nothing of any.

    Raises:
        UsageError: it has some of the fields of a form, and lacks others.
    """
    closest: tuple[list[str], Form] | None = None
    for form in recipe.forms:
        row = next(rows_of(form, record), None)
        if row is None:
            continue
        missing = [name for name in form.needed if name not in row]
        if not missing:
            return form
        if len(missing) < len(form.needed) and (closest is None or len(missing) < len(closest[0])):
            closest = (missing, form)
    if closest is None:
        return None
    missing, form = closest
    listed = ", ".join(map(repr, missing))
    raise UsageError(
        f"recipe {recipe.name}: {file} lacks the field {listed}; found: {_named(record)}",
        file=file,
        hint=f"{form.what} has {', '.join(form.needed)}: {recipe.source}",
    )


def no_form(recipe: Recipe, seen: Mapping[str, Record]) -> UsageError:
    """The error for files none of which is in a form of the recipe; `seen`: file -> its first record."""
    expected = "; or ".join(f"{form.what}: {', '.join(form.needed)}" for form in recipe.forms)
    found = "; ".join(f"{file}: {_named(record)}" for file, record in list(seen.items())[:3])
    return UsageError(
        f"recipe {recipe.name}: no file has the fields expected ({expected}); "
        f"found: {found or 'no data file'}",
        hint=f"name the folder or file as downloaded: {recipe.source}",
    )


def adapted(form: Form, record: Record) -> Iterator[Record]:
    """A record's rows under the names that items of any dataset have."""
    for row in rows_of(form, record):
        found: Record = {"id": row.get(form.id) if form.id else None}
        if not form.id:
            del found["id"]
        if form.question:
            found["question"] = "\n".join(_strings(row, form.question))
        if form.text:
            found["text"] = "\n".join(_strings(row, form.text))
        if form.image:
            found["image"] = row.get(form.image)
        answer = next((name for name in form.answer if name in row), "")
        for kind, paths in (("option", form.options), ("answer", (answer,)), ("passage", form.passages)):
            texts = [text for path in paths if path for text in _strings(row, path)]
            found |= {f"{kind} {number}": text for number, text in enumerate(texts, start=1)}
        yield found


def _named(record: Record) -> str:
    return ", ".join(list(map(str, record))[:12])


def _strings(value: Any, path: str) -> Iterator[str]:
    """Every string at a path, in order; what lies deeper than the path counts too."""
    head, _, rest = path.partition(".")
    if isinstance(value, Mapping) and head:
        yield from _strings(value.get(head), rest)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item, path)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item, "")
    elif isinstance(value, str) and not head:
        yield value
