"""The dataset card: one template, numbers from the data, prose from `data_cards/<dataset>/`.

A section of prose is told for the task (`<task>/<section>.md`), for the whole dataset (`<section>.md`), or
both, the task's first. What a dataset does not tell itself is told by `prose/` beside its folder. What
depends on a setting is no prose: the task's own template tells it.

The claims gate: prose may not state a number of its own. Digits are allowed inside `{{ … }}`, in addresses,
in years and in licence versions; anything else must be an expression over the facts.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from curation.changes.changelog import CHANGELOG, changelog
from curation.partition.lot_sql import SINCE as LOT_SINCE
from curation.published.manifest import OF_CANDIDATES, ReleaseManifest, hash_files
from curation.published.query import QueryRunner
from curation.release import credit, example, plots, results
from curation.release.croissant import croissant
from curation.release.croissant_terms import FILE as CROISSANT
from curation.release.facts import Facts, views
from curation.release.results import FIGURE
from curation.release.rights import hub_licence
from curation.tasks.registry import TASKS, by_lot
from schemas.errors import ReleaseError
from schemas.prompt import models_in
from schemas.published import IMAGE, Published, languages_of, of_language
from schemas.spec import Citation
from schemas.tables import CORPUS, DERIVED, EXTRA, MAIN, NANO, PROVENANCE, QUERIES
from schemas.wording import counted

OF_TASK = ("summary", "intended_use", "limitations")
OF_DATASET = ("intended_use", "limitations", "collection", "acknowledgement")
PROSE = tuple(dict.fromkeys((*OF_TASK, *OF_DATASET)))
"""Sections only people can write; each is one Markdown file of the task, of the dataset, or of both."""
SHARED = "prose"
"""Folder beside those of the datasets: prose of any that has none of its own."""
Prose = Mapping[str, Mapping[str, str]]
"""Section -> file inside the dataset's folder -> its text, in the order of the card."""

_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.S)
_MAY_HAVE_DIGITS = re.compile(
    r"https?://\S+|\b(?:19|20)\d{2}(?:-\d{2}(?:-\d{2})?)?\b"
    r"|\bCC(?:[ -](?:BY|NC|SA|ND))*[ -]\d\.\d\b|\bCC0(?:[ -]1\.0)?\b"
)
_BLOCK = re.compile(r"<!-- prose:(\w+) -->\n(.*?)\n<!-- /prose:\1 -->", re.S)
README = "README.md"
PAGES = {
    README: "card.md.jinja",
    "card/labels.md": "labels.md.jinja",
    "card/results.md": "results_page.md.jinja",
    "card/origin.md": "origin.md.jinja",
    "card/columns.md": "columns.md.jinja",
}
"""Path in a task directory -> template; what opens on the Hub fits one screen, depth stands beside it."""
_DRAWN = frozenset(
    {*PAGES, CHANGELOG, FIGURE, CROISSANT, credit.CFF, credit.DATACITE, credit.ATTRIBUTION, credit.WITHDRAWN}
)
_NANO = frozenset(table.name for table in NANO)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def _of_task(template: str) -> str | None:
    """The template of a task, which it brings with it."""
    task = TASKS.get(template.removeprefix("tasks/"))
    return task.card if task else None


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.FileSystemLoader(Path(__file__).parent / "templates"), jinja2.FunctionLoader(_of_task)]
        ),
        autoescape=False,  # Markdown: cells are escaped by the `cell` filter
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = cell
    environment.filters["number"] = number
    environment.filters["counted"] = counted
    environment.filters.update(results.FILTERS)
    return environment


def template(name: str) -> jinja2.Template:
    """One of the card's templates, or `tasks/<task>` for the part that a task brings."""
    return _environment().get_template(name)


def cell(value: object) -> str:
    """A value inside a Markdown table: no line break, no pipe, no HTML."""
    text = " ".join(str(value).split())
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|") or "—"


def number(value: object) -> str:
    """Integers with thousands separators; nothing to count is a dash."""
    return "—" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def is_drawn(name: str) -> bool:
    """Whether a file of a release only tells people what others of its files say: it gives no number."""
    return name in _DRAWN or name.startswith(example.FILES)


def prose_files(tasks: Iterable[str]) -> dict[str, list[str]]:
    """Task -> the files of prose in a dataset's folder that its card is made of."""
    whole = [f"{section}.md" for section in OF_DATASET]
    return {task: [*(f"{task}/{section}.md" for section in OF_TASK), *whole] for task in tasks}


def prose_path(folder: Path, name: str) -> Path:
    """The file of prose in a dataset's folder, or the one it shares with the datasets beside it."""
    own, shared = folder / name, folder.parent / SHARED / name
    return shared if shared.is_file() and not own.is_file() else own


def load_prose(folder: Path, tasks: Iterable[str]) -> dict[str, Prose]:
    """Read the prose of some tasks of a dataset and hold it to the claims gate.

    Raises:
        ReleaseError: a section is missing, empty, or states a number by hand; names the file.
    """
    files = prose_files(tasks)
    every = dict.fromkeys(name for listed in files.values() for name in listed)
    missing = [name for name in every if not prose_path(folder, name).is_file()]
    if missing:
        listed = ", ".join(str(folder / name) for name in missing)
        raise ReleaseError(
            f"the card has no '{Path(missing[0]).stem}' section",
            file=str(folder / missing[0]),
            hint=f"write {listed}: what it must say, people decide",
        )
    texts = {name: _read(prose_path(folder, name)) for name in every}
    return {
        task: {
            section: {name: texts[name] for name in files[task] if Path(name).stem == section}
            for section in PROSE
        }
        for task in files
    }


def _read(path: Path) -> str:
    """One file of prose."""
    name = str(path)
    text = path.read_text(encoding="utf-8").strip()
    if not text:
        raise ReleaseError(f"the card's '{path.stem}' section is empty", file=name, hint=f"write {name}")
    if "<!--" in text:
        raise ReleaseError("prose may not contain HTML comments", file=name)
    claim = re.search(r"\S*\d\S*", _MAY_HAVE_DIGITS.sub("", _EXPRESSION.sub("", text)))
    if claim:
        raise ReleaseError(
            f"prose states a number by hand: {claim.group()!r}",
            file=name,
            hint="write an expression such as {{ counts.queries | number }}, or leave it out",
        )
    return text


def render_prose(prose: Prose, facts: Facts, folder: str) -> dict[str, str]:
    """Fill the expressions of the prose from the facts; section -> text.

    Raises:
        ReleaseError: an expression names a fact that does not exist.
    """
    environment = _environment()
    rendered = {}
    for section, files in prose.items():
        parts = []
        for name, text in files.items():
            try:
                parts.append(environment.from_string(text).render(facts))
            except jinja2.TemplateError as error:
                raise ReleaseError(
                    f"an expression in the card's prose fails: {error}", file=f"data_cards/{folder}/{name}"
                ) from error
        is_list = all(part.startswith("- ") for part in parts)
        rendered[section] = ("\n" if is_list else "\n\n").join(parts)
    return rendered


def prose_of(card: str) -> dict[str, str]:
    """The rendered prose inside a published card."""
    return {section: text for section, text in _BLOCK.findall(card)}


def _described(table: Published, splits: Sequence[str]) -> dict[str, Any]:
    """Name, folder, splits and (name, type, content) of each column."""
    columns = [
        (column.name, "image" if column.type == IMAGE else str(column.type), column.meaning)
        for column in table.columns
    ]
    return {
        "name": table.name,
        "folder": table.folder,
        "columns": columns,
        "splits": splits if table.has_splits else ["test"],
    }


def _configs(tables: Sequence[Published], parquet: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What `load_dataset` can load: a split without rows is none to it, whatever files it has."""
    for table in tables:
        held = parquet.get(table.name, {"splits": {}})
        if splits := _with_rows(held):
            yield {**held, "name": table.name, "folder": table.folder, "splits": splits, "language": ""}
    for table in tables:
        for language in languages_of(map(Path, parquet.get(table.name, {}).get("shards", ()))):
            held = parquet[name := of_language(table.name, language)]
            if splits := _with_rows(held):
                yield {
                    **held,
                    "name": name,
                    "folder": table.folder,
                    "splits": splits,
                    "language": f"{language}-",
                }
    corpus = parquet[CORPUS.name]
    for language in languages_of(map(Path, parquet[QUERIES.name]["shards"])):
        name = of_language(CORPUS.name, language)
        yield {**corpus, "name": name, "folder": CORPUS.folder, "language": ""}


def _with_rows(held: Mapping[str, Any]) -> dict[str, Any]:
    return {split: size for split, size in held["splits"].items() if size["rows"]}


def drawn_with(head: ReleaseManifest) -> list[str]:
    """Titles of the tasks that drew articles beside this one; none of a release older than the lot."""
    made = next((stage for stage in head.stages if stage["name"] == "partition"), None)
    if made is None or made["version"] < LOT_SINCE:
        return []
    drawing = by_lot(made["params"].get("tasks", ()))
    return [TASKS[name].title for name in drawing if name != head.task] if head.task in drawing else []


def models(head: ReleaseManifest, facts: Facts) -> list[dict[str, Any]]:
    """Each stage that language models answered: models, prompt, what came of prompts and answers."""
    found = []
    steps = {(step["stage"], step["unit"]): step for step in facts["funnel"]}
    for place, stage in enumerate(head.stages):
        step, params = steps.get((stage["name"], "prompt")), stage["params"]
        if step is not None and "prompt_sha256" in params:
            reasons = {row["reason"]: row["count"] for row in step["reasons"]}
            came = step["entered"] - reasons.get("not_run", 0)
            read = _read_by(head.stages[place + 1 :], params["prompt_sha256"], steps)
            found.append(
                {
                    **step,
                    "params": params,
                    "models": models_in(params),
                    "took": params if "tokens_in" in params and came else None,
                    "not_run": reasons.get("not_run", 0),
                    "invalid_share": share_of(reasons.get("invalid", 0), came),
                    "unused_share": share_of(read["dropped"], read["entered"]) if read else None,
                    "unused": read["reasons"] if read else [],
                }
            )
    return found


def _read_by(
    later: Sequence[Mapping[str, Any]], asked: str, steps: Mapping[tuple[str, str], dict[str, Any]]
) -> dict[str, Any] | None:
    """What the stage that reads the answers to some prompts made of them: it follows, with their hash."""
    mine = (steps.get((stage["name"], "answer")) for stage in later if _hash_of(stage) == asked)
    return next((step for step in mine if step is not None), None)


def _hash_of(stage: Mapping[str, Any]) -> str:
    return str(stage["params"].get("prompt_sha256", ""))


def share_of(count: int, whole: int) -> str | None:
    """A share for people; none of nothing."""
    return f"{100 * count / whole:.1f} %" if whole else None


def render(head: ReleaseManifest, facts: Facts, prose: Mapping[str, str]) -> dict[str, str]:
    """README.md and the pages beside it, by path: a function of the published data and the prose alone."""
    images = {QUERIES.name: facts["images"]["images"], CORPUS.name: facts["corpus_images"]["images"]}
    present = [*MAIN, *(table for table in (*EXTRA, *DERIVED) if table.name in facts["tables"])]
    provenance = [table for table in PROVENANCE if table.name in facts["tables"]]
    configs = list(_configs([*present, *provenance], facts["parquet"]))
    whole = [row["split"] for row in facts["splits"]] or ["test"]
    derived = facts["derived_splits"]
    environment = _environment()
    corpus_rows = facts["counts"]["corpus"]
    context: dict[str, Any] = {
        **facts,
        "head": head,
        "prose": prose,
        "hub": hub_licence(head.license),
        "hub_languages": sorted({row["language"].split("-")[0] for row in facts["languages"]} - {"und"}),
        "size": next((name for limit, name in _SIZES if corpus_rows < limit), "1M<n<10M"),
        "columns": [
            _described(
                table if images.get(table.name, True) else table.without("image"),
                derived.get(table.name) or whole,
            )
            for table in present
        ],
        "nano": _NANO,
        "headline": results.headline(environment, facts, is_of_candidates=head.label == OF_CANDIDATES),
        "results_section": results.section(environment, facts),
        "configs": configs,
        "loadable": {table["name"] for table in configs},
        "settings": next((stage["params"] for stage in head.stages if stage["name"] == head.task), {}),
        "drawn_with": drawn_with(head),
        "models": models(head, facts),
    }
    return {path: re.sub(r"\n{3,}", "\n\n", template(name).render(context)) for path, name in PAGES.items()}


def texts(
    directory: Path,
    head: ReleaseManifest,
    facts: Facts,
    prose: Mapping[str, str],
    query: QueryRunner,
    citation: Citation,
    files: Mapping[str, str],
) -> dict[str, str]:
    """All texts that tell of a task directory, by path: card, pages, changes, citation, credits, Croissant.

    `files` is path -> SHA-256 of at least its Parquet files.
    """
    pages = render(head, facts, prose) | {CHANGELOG: changelog(head)}
    pages[CROISSANT] = croissant(head, facts, prose, citation, files, models(head, facts))
    return pages | credit.files(head, query, views(directory), citation)


def write(
    directory: Path,
    head: ReleaseManifest,
    facts: Facts,
    prose: Mapping[str, str],
    query: QueryRunner,
    citation: Citation,
) -> dict[str, str]:
    """Write those texts, and the card's figures; the hashes of the files that were there before."""
    files = hash_files(directory)
    for name, text in texts(directory, head, facts, prose, query, citation, files).items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    plots.write(directory, facts)
    example.write(directory, example.images(query, views(directory), facts["example"]))
    return files
