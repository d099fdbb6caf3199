"""One matcher in a process of its own: builds its index, or finds names in documents and says what it took.

`python -m benchmarks.grounding.contestant build NAME FOLDER`, then `find NAME FOLDER DOCUMENTS [nested]`. The
folder holds `names.parquet`, perhaps `types.parquet`, and `documents.jsonl`, whose last documents are read
first to warm up. Results go to `NAME.build.json` and `NAME.json`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from curation.concepts.matcher import Match, Matcher

WARM_UP = 10
INDEX_OF = {"ground": "native", "dictionary": None}
"""Contestants that use another one's index, or none."""


class ExactDictionary:
    """The longest run of whole words that is a name, as an ordinary dictionary lookup finds it."""

    def __init__(self, names: Path) -> None:
        """Reads all names."""
        import pyarrow.parquet as pq

        from benchmarks.grounding import exact_dictionary as dictionary
        from schemas.record import from_table
        from schemas.vocabulary import ConceptName

        self._names = dictionary.build(from_table(ConceptName, pq.read_table(names)))

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Longest matches; there are no others."""
        return [Match(item.start, item.end, item.concept, item.name) for item in self._names.find(text)]

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """The same for many texts."""
        return (self.find(text) for text in texts)


class Grounding:
    """The native matcher as `medqrels ground` uses it: with the document's short forms and context."""

    def __init__(self, matcher: Matcher) -> None:
        """Takes an open matcher."""
        self._matcher = matcher

    def find(self, text: str, language: str = "en", *, overlaps: bool = False) -> list[Match]:
        """Mentions of a document that is this text."""
        return next(self.find_many([text], language, overlaps=overlaps))

    def find_many(
        self, texts: Iterable[str], language: str = "en", *, overlaps: bool = False
    ) -> Iterator[list[Match]]:
        """The same for many documents."""
        from curation.concepts.annotate import Text, annotate_many

        documents = (("text", [Text("text", text, language)]) for text in texts)
        for mentions in annotate_many(documents, self._matcher, overlaps=overlaps):
            yield [Match(m.start, m.end, m.concept, m.name, m.rule, m.score) for m in mentions]


def build(name: str, folder: Path) -> None:
    """Builds the index of a contestant from the folder's names and types."""
    names, types, index = folder / "names.parquet", folder / "types.parquet", folder / name
    kinds = types if types.exists() else None
    if name == "native":
        import pyarrow.parquet as pq

        from curation.concepts.index import build_index
        from schemas.record import from_table
        from schemas.vocabulary import ConceptType

        build_index(names, index, from_table(ConceptType, pq.read_table(types)) if kinds else ())
    elif name == "quickumls":
        from curation.concepts.backends import quickumls

        quickumls.prepare(names, kinds, index)
    else:
        from curation.concepts.backends import scispacy

        scispacy.prepare(names, kinds, index)


def open_matcher(name: str, folder: Path) -> Matcher:
    """Opens the index of a contestant."""
    if name == "native":
        from curation.concepts.native import open_index

        return open_index(folder / name)
    if name == "quickumls":
        from curation.concepts.backends.quickumls import open_quickumls

        return open_quickumls(folder / name)
    if name == "scispacy":
        from curation.concepts.backends.scispacy import open_scispacy

        return open_scispacy(folder / name)
    if name == "ground":
        return Grounding(open_matcher("native", folder))
    return ExactDictionary(folder / "names.parquet")


def find(matcher: Matcher, folder: Path, limit: int, nested: bool) -> dict[str, Any]:
    """Names in the first documents with the CPU seconds it took, and nested ones too if asked."""
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text("utf-8").splitlines()]
    ids = [item["id"] for item in documents[:limit]]
    texts = [item["text"] for item in documents]
    for _ in matcher.find_many(texts[-WARM_UP:]):
        pass
    started = time.process_time()
    flat = list(matcher.find_many(texts[:limit]))
    result: dict[str, Any] = {"documents": len(flat), "cpu_seconds": time.process_time() - started}
    result["flat"] = _spans(ids, flat)
    if nested:
        result["nested"] = _spans(ids, matcher.find_many(texts[:limit], overlaps=True))
    return result


def _spans(ids: Iterable[str], found: Iterable[list[Match]]) -> dict[str, list[list[Any]]]:
    return {
        key: [[match.start, match.end, match.concept] for match in matches]
        for key, matches in zip(ids, found, strict=True)
    }


def size_of(path: Path) -> int:
    """Bytes of a file or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def main(arguments: list[str]) -> None:
    """Command line."""
    verb, name, folder = arguments[0], arguments[1], Path(arguments[2])
    started = time.process_time()
    if verb == "build":
        build(name, folder)
        result = {"cpu_seconds": time.process_time() - started, "bytes": size_of(folder / name)}
    else:
        matcher = open_matcher(name, folder)
        matcher.find("")  # languages are opened when first needed
        opened = time.process_time() - started
        result = find(matcher, folder, int(arguments[3]), "nested" in arguments) | {"open_seconds": opened}
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    target = f"{name}.build.json" if verb == "build" else f"{name}.json"
    (folder / target).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
