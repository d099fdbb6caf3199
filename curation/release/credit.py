"""Files that say how to cite a release, whom it owes, and what was withdrawn of it, for people and tools.

CITATION.cff, datacite.json, ATTRIBUTION.md, and withdrawn.json where anything was withdrawn.

What only people know of a dataset (authors, publisher, year, DOI) stands in its spec; a release states it in
datacite.json, from where it is read when the files are made again. A CFF file is YAML, and JSON strings are
YAML's too. https://citation-file-format.github.io (1.2.0), https://schema.datacite.org (4.6)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from curation.published.manifest import ReleaseManifest
from curation.published.query import QueryRunner, Views, fetch
from curation.release.rights import LINKS, hub_licence, licence_link
from schemas.spec import Citation

CFF, DATACITE, ATTRIBUTION = "CITATION.cff", "datacite.json", "ATTRIBUTION.md"
WITHDRAWN = "withdrawn.json"
_SOURCES = "SELECT id, title, authors, journal, year, doi, license, license_url FROM sources ORDER BY id"
_WITHDRAWN = "SELECT id, unit, reason, notice, parent FROM withdrawn ORDER BY unit, id"
_SCHEMA = "http://datacite.org/schema/kernel-4"
_CHANGES = """\
Every text in this dataset is taken from one of the works below, or was made from one. Texts were cut into
passages, captions, cases or abstracts; pointers to figures, labels, and identifiers of articles and trials
were taken out of them. `transforms` in the provenance tables lists each change with the words that stood
there, so that it can be undone. Images are copied byte for byte, or were converted to PNG
(`image_transform`). Neither authors nor publishers endorse this dataset or these changes.
"""


def files(head: ReleaseManifest, query: QueryRunner, given: Views, citation: Citation) -> dict[str, str]:
    """File name -> text.

    Args:
        head: of the release.
        query: runs SQL over Parquet.
        given: its tables.
        citation: what people say of the dataset.
    """
    made = {
        CFF: _cff(head, citation),
        DATACITE: _datacite(head, citation),
        ATTRIBUTION: "".join(f"{line}\n" for line in _attribution(head, fetch(query, _SOURCES, given))),
    }
    if given.get("withdrawn"):
        rows = fetch(query, _WITHDRAWN, given)
        made[WITHDRAWN] = json.dumps({"withdrawn": rows}, indent=1, ensure_ascii=False) + "\n"
    return made


def stated(directory: Path) -> Citation:
    """What people said of the dataset, as its datacite.json states it; nothing where it cannot be read."""
    try:
        content = json.loads((directory / DATACITE).read_bytes())
        return Citation(
            authors=tuple(item["name"] for item in content["creators"] if item["nameType"] == "Personal"),
            publisher=content["publisher"]["name"],
            year=int(content["publicationYear"]) if "publicationYear" in content else None,
            doi=next((item["identifier"] for item in content["identifiers"]), ""),
            url=content.get("url", ""),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ValidationError):
        return Citation()


def title_of(head: ReleaseManifest) -> str:
    """What a release of a task is called where it is cited."""
    return f"{head.title}: {head.task_title}"


def maintainers(head: ReleaseManifest) -> str:
    """Who made it, where the spec names nobody."""
    return f"The maintainers of {head.title}"


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cff(head: ReleaseManifest, citation: Citation) -> str:
    """A CFF file may name an entity in a person's place: nobody has to split names into their parts."""
    licence = hub_licence(head.license)
    lines = [
        "cff-version: 1.2.0",
        'message: "If you use this dataset, cite it as below, and credit the articles in ATTRIBUTION.md."',
        "type: dataset",
        f"title: {_quoted(title_of(head))}",
        f"version: {_quoted(head.version)}",
        f"abstract: {_quoted(head.task_description)}",
        "authors:",
        *(f"  - name: {_quoted(name)}" for name in citation.authors or (maintainers(head),)),
    ]
    if licence.id in LINKS:
        lines.append(f"license: {licence.id.upper()}")  # as SPDX writes what the Hub writes in small letters
    else:
        lines.append(f"license-url: {_quoted(licence.link)}")
    lines += [f"doi: {_quoted(citation.doi)}"] if citation.doi else []
    lines += [f"url: {_quoted(citation.url)}"] if citation.url else []
    return "\n".join(lines) + "\n"


def _datacite(head: ReleaseManifest, citation: Citation) -> str:
    """Without a year in the spec it lacks `publicationYear`, which a DOI needs: nobody else knows it."""
    licence = hub_licence(head.license)
    people = [{"name": name, "nameType": "Personal"} for name in citation.authors]
    content: dict[str, Any] = {
        "schemaVersion": _SCHEMA,
        "identifiers": [{"identifier": citation.doi, "identifierType": "DOI"}] if citation.doi else [],
        "creators": people or [{"name": maintainers(head), "nameType": "Organizational"}],
        "titles": [{"title": title_of(head)}],
        "publisher": {"name": citation.publisher or maintainers(head)},
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Retrieval benchmark"},
        "subjects": [{"subject": subject} for subject in ("information retrieval", "medicine", "benchmark")],
        "version": head.version,
        "rightsList": [
            {
                "rightsIdentifier": licence.name or licence.id,
                "rightsUri": licence_link(head.license),
            }
        ],
        "descriptions": [{"description": head.task_description, "descriptionType": "Abstract"}],
    }
    if citation.year is not None:
        content["publicationYear"] = str(citation.year)
    if citation.url:
        content["url"] = citation.url
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _attribution(head: ReleaseManifest, sources: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The works that rows were made from, each with all that its licence asks to be named."""
    yield f"# Attribution: {_line(title_of(head))}"
    yield ""
    yield from _CHANGES.splitlines()
    yield ""
    for row in sources:
        authors = ", ".join(row["authors"]) or "Authors not stated"
        when = f" {row['year']}" if row["year"] else ""
        published = f"{row['journal']}{when}".strip()
        parts = [authors, row["title"], published, f"https://doi.org/{row['doi']}" if row["doi"] else ""]
        licence = row["license"] + (f" ({row['license_url']})" if row["license_url"] else "")
        told = ". ".join(part.rstrip(".") for part in parts if part)
        yield f"- `{_line(row['id'])}`: {_line(told)}. {_line(licence)}."


def _line(value: str) -> str:
    """Text that stays text on one line of Markdown."""
    text = " ".join(value.split())
    for mark in "\\`*_[]":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
