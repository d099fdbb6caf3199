"""QuickUMLS 1.4.2 as its users run it, in an environment of its own, with nothing of this project.

`python peers_quickumls.py build FOLDER`, then `find FOLDER DOCUMENTS [nested]`; the folder holds `names.tsv`
(concept, preferred, name) and `documents.jsonl`, whose last documents are read first to warm up. What it
would download, a spaCy model and NLTK's stop words, is a blank pipeline and spaCy's stop words.
"""

from __future__ import annotations

import importlib
import json
import resource
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

NAME = "quickumls_1_4_2"
WARM_UP = 10
_FIELDS = 18


def write_rrf(folder: Path, rrf: Path) -> None:
    """MRCONSO and MRSTY in UMLS's columns."""
    shutil.rmtree(rrf, ignore_errors=True)
    rrf.mkdir()
    concepts = set()
    with (rrf / "MRCONSO.RRF").open("w", encoding="utf-8") as file:
        for line in (folder / "names.tsv").read_text("utf-8").split("\n")[:-1]:
            concept, preferred, name = line.split("\t")
            cells = [""] * _FIELDS
            cells[0], cells[1], cells[6], cells[14] = concept, "ENG", preferred, name.replace("|", " ")
            file.write("|".join(cells) + "|\n")
            concepts.add(concept)
    (rrf / "MRSTY.RRF").write_text("".join(f"{item}|T047|||||\n" for item in sorted(concepts)), "utf-8")


def build(folder: Path) -> None:
    """Runs its installer, lower-casing, with its default database."""
    install: Any = importlib.import_module("quickumls.install")
    write_rrf(folder, folder / "rrf")
    index = folder / NAME
    shutil.rmtree(index, ignore_errors=True)
    index.mkdir()
    install.install_spacy = lambda lang: None
    sys.argv = ["install", "-L", str(folder / "rrf"), str(index)]
    install.main()


def open_matcher(folder: Path) -> tuple[Any, Any]:
    """The matcher with its defaults (Jaccard .7, window 5) and all semantic types, and a blank pipeline."""
    core: Any = importlib.import_module("quickumls.core")
    pipeline: Any = importlib.import_module("spacy").blank("en")
    words = SimpleNamespace(words=lambda *_: sorted(pipeline.Defaults.stop_words))
    core.nltk = SimpleNamespace(corpus=SimpleNamespace(stopwords=words))
    return core.QuickUMLS(str(folder / NAME), accepted_semtypes=None, spacy_component=True), pipeline


def find(folder: Path, limit: int, nested: bool) -> dict[str, Any]:
    """Best reading of every span it keeps in the first documents, and of all spans if asked."""
    started = time.process_time()
    matcher, pipeline = open_matcher(folder)
    opened = time.process_time() - started
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text("utf-8").splitlines()]
    for item in documents[-WARM_UP:]:
        matcher._match(pipeline(item["text"]))
    started = time.process_time()
    flat = {item["id"]: matcher._match(pipeline(item["text"])) for item in documents[:limit]}
    seconds = time.process_time() - started
    result: dict[str, Any] = {"documents": len(flat), "cpu_seconds": seconds, "open_seconds": opened}
    result["flat"] = {key: _spans(groups) for key, groups in flat.items()}
    if nested:
        every = {i["id"]: matcher._match(pipeline(i["text"]), best_match=False) for i in documents[:limit]}
        result["nested"] = {key: _spans(groups) for key, groups in every.items()}
    return result


def _spans(groups: Any) -> list[list[Any]]:
    return [[group[0]["start"], group[0]["end"], group[0]["cui"]] for group in groups]


def main(arguments: list[str]) -> None:
    """Command line."""
    verb, folder = arguments[0], Path(arguments[1])
    if verb == "build":
        started = time.process_time()
        build(folder)
        size = sum(path.stat().st_size for path in (folder / NAME).rglob("*") if path.is_file())
        result: dict[str, Any] = {"cpu_seconds": time.process_time() - started, "bytes": size}
    else:
        result = find(folder, int(arguments[2]), "nested" in arguments)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    target = f"{NAME}.build.json" if verb == "build" else f"{NAME}.json"
    (folder / target).write_text(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
