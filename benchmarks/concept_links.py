"""How often what concept_discrimination marks is annotated with the concept that its author's word names.

The annotated spans of each abstract (GSC+ dev: HPO; NCBI disease dev: MeSH, OMIM) stand for the keywords of
its author; passages, marks, grounding and vocabulary (HPO, MONDO, MeSH: the default) are the pipeline's.
`python -m benchmarks.concept_links`
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.grounding import gold
from benchmarks.measure import SHARED, read_result, save
from curation.tasks.concept_discrimination.anchors import build
from curation.tasks.concept_discrimination.records import Anchor
from curation.tasks.concept_discrimination.settings import Settings
from curation.tasks.concept_discrimination.vocabulary_sql import ANCHORED
from flows.cli.app import run_cli as medqrels
from flows.engine.connection import query
from flows.engine.workspace import Workspace
from flows.vocabulary import current
from schemas.article import Licence
from schemas.concept import Mention
from schemas.extracted import Passage, Source
from schemas.hashing import sha256_text
from schemas.record import to_table

FLOOR = 0.90
"""Precision against gold of others' making, on each set, below which pairs are candidates and no labels."""
READ = Path(__file__).with_name("developer_checks") / "concept_links.json"
SETS = {"gsc_plus_dev": "GSCplus_dev_gold.tsv", "ncbi_dev": "NCBI_dev_gold.tsv"}
_MERGED = """
    SELECT code AS id, min(concept) AS concept FROM names WHERE code <> '' GROUP BY code
    UNION ALL SELECT other, min(concept) FROM mappings WHERE status = 'merged' GROUP BY other"""
_PARENTS = "SELECT concept, other FROM relations WHERE relation = 'parent'"
_OWN = "SELECT DISTINCT concept FROM names"
_WIDE = Settings(min_words=5, max_words=2_000, passages=1)


def anchors_of(document: gold.GoldDocument, mentions: list[dict[str, Any]]) -> list[Anchor]:
    """What the task marks in an abstract whose keywords are the annotated words."""
    article = f"medline:{document.id}"
    words = sorted({document.text[item.start : item.end] for item in document.mentions})
    source = Source(
        id=article, title="", language="en", keywords=tuple(words), raw_sha256="0",
        licence=Licence(spdx="CC0-1.0", evidence="benchmark"),
    )  # fmt: skip
    passage = Passage(
        id=f"{article}#p1", article_id=article, number=1, section=1, text=document.text, language="en",
        text_sha256=sha256_text(document.text),
    )  # fmt: skip
    found = [
        Mention(article_id=article, text_id=passage.id, start=item["start"], end=item["end"],
                text=item["text"], concept=item["concept"], name=item["name"])
        for item in mentions
    ]  # fmt: skip
    return [row for row in build(source, [passage], found, settings=_WIDE) if isinstance(row, Anchor)]


def measure(name: str, workspace: Workspace, scratch: Path) -> dict[str, Any]:
    """Marked mentions of one gold set by what the gold says of them."""
    documents = gold.read(SHARED / "gold" / SETS[name])
    texts, out = scratch / f"{name}.jsonl", scratch / f"{name}-mentions.jsonl"
    lines = (json.dumps({"id": item.id, "text": item.text, "language": "en"}) + "\n" for item in documents)
    texts.write_text("".join(lines), "utf-8")
    arguments = ["--input", str(texts), "--output", str(out), "--workspace", str(workspace.root)]
    if code := medqrels(["ground", *arguments]):
        raise SystemExit(f"medqrels ground: exit {code}")
    mentions = {row["id"]: row["mentions"] for row in map(json.loads, out.read_text("utf-8").splitlines())}
    found = [(item, anchor) for item in documents for anchor in anchors_of(item, mentions[item.id])]
    path = scratch / f"{name}.parquet"
    pq.write_table(to_table(Anchor, [anchor for _, anchor in found]), path)
    vocabulary = current(workspace)
    assert vocabulary is not None
    views = {name: [vocabulary.table(name)] for name in ("names", "mappings", "relations")}
    views["all_anchors"] = [path]
    ask = query("2GB")
    named = {row["query_id"]: row for batch in ask(ANCHORED, views) for row in batch.to_pylist()}
    known = {row["concept"]: row["concept"] for batch in ask(_OWN, views) for row in batch.to_pylist()}
    known |= {row["id"]: row["concept"] for batch in ask(_MERGED, views) for row in batch.to_pylist()}
    parents: dict[str, list[str]] = {}
    for batch in ask(_PARENTS, views):
        for row in batch.to_pylist():
            parents.setdefault(row["concept"], []).append(row["other"])
    verdicts = Counter(
        _verdict(item, anchor, named[anchor.query_id], known, parents) for item, anchor in found
    )
    linked = sum(count for verdict, count in verdicts.items() if verdict not in _UNLINKED)
    return {
        "documents": len(documents),
        "marked": len(found),
        "linked": linked,
        "precision": round(verdicts["right"] / linked, 4) if linked else None,
        "verdicts": dict(sorted(verdicts.items())),
    }


_UNLINKED = ("no_concept", "several_concepts", "other_reading", "unknown_id")
"""No query; or annotated with nothing but ids that the vocabulary does not have."""


def _verdict(
    document: gold.GoldDocument,
    anchor: Anchor,
    named: dict[str, Any],
    known: dict[str, str],
    parents: dict[str, list[str]],
) -> str:
    """What the gold says of one anchor; of those that make no query, why."""
    concept = named["concept"]
    if not concept:
        return "no_concept" if not named["concepts"] else "several_concepts"
    if anchor.matched not in ("", concept):
        return "other_reading"
    start, end = anchor.start - 3, anchor.end - 3
    same = [item for item in document.mentions if (item.start, item.end) == (start, end)]
    meant = {known.get(name, "") for item in same for name in item.concepts}
    if concept in meant:
        return "right"
    if same:
        return (
            "unknown_id"
            if meant == {""}
            else "wider"
            if meant & _above(concept, parents)
            else "other_concept"
        )
    inside = any(item.start <= start and end <= item.end for item in document.mentions)
    return "in_longer_mention" if inside else "not_annotated"


def _above(concept: str, parents: dict[str, list[str]]) -> set[str]:
    """All concepts above one."""
    found, waiting = set[str](), [concept]
    while waiting:
        new = [name for name in parents.get(waiting.pop(), ()) if name not in found]
        found.update(new)
        waiting += new
    return found


def section() -> list[str]:
    """What benchmarks/README.md says of it."""
    lines = [
        "## Authors' words as links to concepts",
        "",
        "What `concept_discrimination` marks, held against gold: annotated words stand for keywords, and a "
        "name must be one concept's alone. *Wider*: annotators gave a concept above the one whose name the "
        "words are ('hereditary breast cancer' as breast neoplasms). `python -m benchmarks.concept_links`",
        "",
        "| gold | texts | linked | right | wider | other concept | part of a longer mention "
        "| not annotated | precision | without wider | floor | read: right in meaning |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    read = Counter((row["gold"], row["verdict"]) for row in json.loads(READ.read_text("utf-8"))["rows"])
    for name, found in sorted(read_result("concept_links")["sets"].items()):
        kinds = ("right", "wider", "other_concept", "in_longer_mention", "not_annotated")
        counts = [found["verdicts"].get(kind, 0) for kind in kinds]
        without = counts[0] / (found["linked"] - counts[1])
        shown = " | ".join(map(str, counts))
        lines.append(
            f"| {name} | {found['documents']} | {found['linked']} | {shown} | {found['precision']:.3f} "
            f"| {without:.3f} | {FLOOR:.2f}: {'met' if found['precision'] >= FLOOR else 'missed'} "
            f"| {counts[0] + read[name, 'acceptable']} of {found['linked']} |"
        )
    return [
        *lines,
        "",
        "Words that are no concept's name, or several's, make no query and are not counted. Below the floor "
        "on either set, pairs of the task are candidates.",
        "",
        "*Read*: every mention linked otherwise than the gold was read by one developer, no clinician and "
        "not blind (`developer_checks/concept_links.json`: places, ids and verdicts). Nearly all differ "
        "because the annotators had one vocabulary (HPO; MeSH and OMIM) without a concept of just these "
        "words, and gave a neighbour or one above, where the pipeline's vocabulary has the very concept; "
        "wrong were a name that MeSH lists under a narrower heading, and two findings merged into one "
        "concept. That is also why sets of the shared articles, whose words are real keywords, read better "
        "(66 of 66, below) than this measures. The reader made the rules, so the floor is held against the "
        "gold alone.",
        "",
    ]


def main() -> None:
    """Measure both sets and save the figures."""
    with tempfile.TemporaryDirectory(prefix="medqrels-links-") as place:
        root = Path(place) / "workspace"
        if code := medqrels(["vocabulary", "build", "--workspace", str(root)]):
            raise SystemExit(f"medqrels vocabulary build: exit {code}")
        found = {name: measure(name, Workspace(root), Path(place)) for name in SETS}
    save("concept_links", {"sets": found})
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
