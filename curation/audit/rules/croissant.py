"""Rules on croissant.json: its names, its licence, its files, and that it declares every published column.

Readers of Croissant pass over a name they do not know, so a statement under a wrong name is lost in silence:
every name is looked up in the list of the specifications (curation.release.croissant_terms). That it says
what the data say, rule `card` proves.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.audit.rule import Check, Collector, Context, FileDefect, Outcome, Rule, side, since
from curation.release.croissant_terms import DATA_TYPES, FILE, PROPERTIES, REQUIRED
from curation.release.rights import FAMILIES, licence_link

Node = dict[str, Any]
_LITERAL = frozenset({"@context", "description", "name"})
"""Properties whose value is no node of ours, whatever it looks like."""
_DEFINED = ("cr:FileObject", "cr:FileSet", "cr:RecordSet", "cr:Field")


def _content(context: Context) -> Node | None:
    """What croissant.json says; None where there is none that can be read."""
    since(4, context, "croissant.json")  # other layouts have none of ours
    try:
        content = json.loads((context.directory / FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _nodes(value: Any) -> Iterator[Node]:
    """Every node, the outermost first."""
    if isinstance(value, dict):
        yield value
    within = value.items() if isinstance(value, dict) else enumerate(value)
    for name, each in within:
        if name not in _LITERAL and isinstance(each, (dict, list)):
            yield from _nodes(each)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _typed(content: Node, kind: str) -> list[Node]:
    return [node for node in _nodes(content) if node.get("@type") == kind]


def _unreadable(context: Context) -> Outcome:
    found = Collector("croissant", "error")
    if _content(context) is None:
        found.add("croissant.json is missing, or no JSON object", side(FILE, FILE))
    return found.outcome(0)


def _unknown(context: Context) -> Outcome:
    """Names that no specification has."""
    found = Collector("croissant", "error")
    looked = 0
    for node in _nodes(_content(context) or {}):
        kind = node.get("@type", "")
        known = PROPERTIES.get(kind) if isinstance(kind, str) else None
        if known is None:
            found.add(f"no type is called so: {kind}", side(FILE, kind, node.get("@id")))
            continue
        looked += len(node)
        for name in sorted(node.keys() - known):
            found.add(f"{kind or 'a reference'} has no property of that name: {name}", side(FILE, name))
        for data_type in _listed(node.get("dataType")):
            if data_type not in DATA_TYPES:
                found.add(f"no data type is called so: {data_type}", side(FILE, data_type, node.get("@id")))
    return found.outcome(looked)


def _lacking(context: Context) -> Outcome:
    found = Collector("croissant", "error")
    content = _content(context)
    for name in REQUIRED if content is not None else ():
        if not (content or {}).get(name):
            found.add(f"nothing is stated as {name}", side(FILE, name))
    return found.outcome(0)


def _licence(context: Context) -> Outcome:
    found = Collector("croissant", "error")
    content = _content(context)
    if content is None:
        return found.outcome(0)
    stated = str(content.get("license"))
    if stated not in {licence_link(family) for family in FAMILIES}:
        found.add("the licence is none that a release can have", side(FILE, stated))
    elif stated != licence_link(context.manifest.license):
        found.add("the licence is another than release.json states", side(FILE, stated))
    return found.outcome(0)


def _files(context: Context) -> Outcome:
    """Files that are stated wrongly, or not at all."""
    found = Collector("croissant", "error")
    content = _content(context)
    if content is None:
        return found.outcome(0)
    wanted = {name: sha for name, sha in context.manifest.files.items() if name.endswith(".parquet")}
    stated = {str(node.get("contentUrl")): node.get("sha256") for node in _typed(content, "cr:FileObject")}
    for name in sorted(stated.keys() - wanted.keys()):
        found.add("release.json lists no such Parquet file; paths are relative", side(FILE, name))
    for name in sorted(wanted.keys() - stated.keys()):
        found.add("a Parquet file is not stated", side(FILE, name))
    for name in sorted(name for name in wanted.keys() & stated.keys() if wanted[name] != stated[name]):
        found.add("the file's hash is another than in release.json", side(FILE, name, stated[name]))
    return found.outcome(0)


def _columns(context: Context) -> Outcome:
    """Tables and columns that are not declared, and declared ones that are not there."""
    found = Collector("croissant", "error")
    content = _content(context)
    if content is None:
        return found.outcome(0)
    declared = {str(node.get("@id")): _fields(node) for node in _typed(content, "cr:RecordSet")}
    for table in sorted(declared.keys() | context.views.keys()):
        if table not in declared or table not in context.views:
            found.add("record sets and tables are not the same", side(FILE, table))
            continue
        columns = set(pq.read_schema(context.views[table][0]).names)
        for name in sorted(columns ^ declared[table]):
            found.add(
                "fields of the record set and columns of the table differ", side(FILE, f"{table}/{name}")
            )
    return found.outcome(0)


def _fields(record_set: Node) -> set[str]:
    """Columns that fields of a record set read; a split that the file's name tells is none."""
    own = [field for field in _listed(record_set.get("field")) if isinstance(field, dict)]
    return {
        str(field.get("name")) for field in own if '"fileProperty"' not in json.dumps(field.get("source", {}))
    }


def _dangling(context: Context) -> Outcome:
    found = Collector("croissant", "error")
    content = _content(context) or {}
    defined = {node["@id"] for kind in _DEFINED for node in _typed(content, kind) if "@id" in node}
    for node in _nodes(content):
        if set(node) == {"@id"} and node["@id"] not in defined:
            found.add("what is referred to is not there", side(FILE, node["@id"]))
    return found.outcome(0)


def _edited(change: Callable[[Node], str]) -> Callable[[Path], Sequence[str] | None]:
    """Changes croissant.json; `change` gives what must then be named."""

    def damage(directory: Path) -> Sequence[str] | None:
        path = directory / FILE
        if not path.is_file():
            return None
        content = json.loads(path.read_bytes())
        named = change(content)
        path.write_text(json.dumps(content), encoding="utf-8", newline="\n")
        return [named]

    return damage


def _said(name: str, value: Any) -> Callable[[Node], str]:
    """States something at the top."""

    def say(content: Node) -> str:
        content[name] = value
        return name

    return say


def _first(kind: str, name: str, value: Any, named: str = "") -> Callable[[Node], str]:
    """States something of the first node of a type; what is named is the value, or the node's `named`."""

    def say(content: Node) -> str:
        node = _typed(content, kind)[0]
        told = str(node[named]) if named else str(value)
        node[name] = value
        return told

    return say


def _without(kind: str, within: str) -> Callable[[Node], str]:
    """Leaves out the last of the nodes that a property lists."""

    def leave(content: Node) -> str:
        node = _typed(content, kind)[0]
        return str(node[within].pop()["@id"])

    return leave


def _broken(directory: Path) -> Sequence[str]:
    (directory / FILE).write_text("[]", encoding="utf-8")
    return [FILE]


def _lost(directory: Path) -> Sequence[str]:
    (directory / FILE).unlink(missing_ok=True)
    return [FILE]


def _misnamed(content: Node) -> str:
    content["rai:dataBiasses"] = content.pop("rai:dataBiases")
    return "rai:dataBiasses"


def _dangled(content: Node) -> str:
    _typed(content, "cr:RecordSet")[0]["key"] = {"@id": "canary/id"}
    return "canary/id"


CHECKS = (
    Check(
        "croissant.json is missing, or no JSON object",
        _unreadable,
        (FileDefect("no croissant.json", _lost), FileDefect("a croissant.json without content", _broken)),
    ),
    Check(
        "a name is in none of the specifications",
        _unknown,
        (
            FileDefect("a misspelt statement on responsible use", _edited(_misnamed)),
            FileDefect("a name that PROV-O does not have", _edited(_said("prov:wasDerivedOf", "canary"))),
            FileDefect(
                "a type that PROV-O does not have", _edited(_first("prov:Agent", "@type", "prov:Agents"))
            ),
            FileDefect("an unknown data type", _edited(_first("cr:Field", "dataType", "sc:Texts"))),
        ),
    ),
    Check(
        "something that every release states is not stated",
        _lacking,
        (
            FileDefect("no limitations", _edited(_said("rai:dataLimitations", []))),
            FileDefect("no provenance", _edited(_said("prov:wasGeneratedBy", None))),
        ),
    ),
    Check(
        "the licence is not that of the release",
        _licence,
        (
            FileDefect("a licence that is none", _edited(_first("sc:Dataset", "license", "cc-by"))),
            FileDefect(
                "another licence",
                _edited(_first("sc:Dataset", "license", licence_link("by-nc-sa"))),
            ),
        ),
    ),
    Check(
        "files are stated wrongly",
        _files,
        (
            FileDefect(
                "an address in place of a path",
                _edited(_first("cr:FileObject", "contentUrl", "https://example.org/part.parquet")),
            ),
            FileDefect("another hash", _edited(_first("cr:FileObject", "sha256", "0" * 64, "contentUrl"))),
            FileDefect("a file that is not stated", _edited(_without("sc:Dataset", "distribution"))),
        ),
    ),
    Check(
        "tables or columns are not those declared",
        _columns,
        (
            FileDefect("a table without a record set", _edited(_without("sc:Dataset", "recordSet"))),
            FileDefect("a column without a field", _edited(_without("cr:RecordSet", "field"))),
        ),
    ),
    Check(
        "what is referred to is not there",
        _dangling,
        FileDefect("a key that is no field", _edited(_dangled)),
    ),
)
RULES = (
    Rule(
        "croissant",
        1,
        "croissant.json can be read as it is meant",
        "Every name in croissant.json is one of Croissant 1.1, its vocabulary of responsible AI, schema.org "
        "or PROV-O; licence and file hashes are those of release.json, paths are relative, every published "
        "column is declared, and what it refers to is there.",
        "error",
        "properties",
        checks=CHECKS,
    ),
)
