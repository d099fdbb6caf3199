"""A small release with known content: two articles, four figures, eight passages, images of three formats."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from curation.partition.records import Withheld
from curation.published.manifest import BuildRecord, ReleaseManifest, Retention, StageRecord
from curation.published.query import Sandbox
from curation.release.card import OF_DATASET, OF_TASK, load_prose
from curation.release.seal import aside, seal
from curation.release.write import Inputs, Written, write
from curation.tasks.registry import TASKS
from flows.engine import connection as asking
from schemas.article import Graphic, Licence, Translated
from schemas.benchmark import (
    Assignment,
    Document,
    Evidence,
    Excluded,
    OverlapKey,
    Qrel,
    Query,
    Transform,
)
from schemas.extracted import Source
from schemas.hashing import normalise_text, sha256_bytes, sha256_text
from schemas.ids import family_key, query_id
from schemas.label import RecordLabels
from schemas.record import column, record, to_table
from schemas.spec import DatasetSpec
from schemas.stages import Drop, Reason

PASSAGES = {
    "pmc:PMC901.1": [
        "Radiography on admission showed a dense opacity of the right lower lobe (Fig. 1) with effusion.",
        "Ultrasound of the pleura found septations and debris, so a drain was placed (Fig. 2) at once.",
        "She received intravenous antibiotics for ten days and recovered without a further procedure.",
        "Discharge was planned together with the family and a visit to the clinic was arranged.",
    ],
    "pmc:PMC902.2": [
        "The left fundus had flame-shaped haemorrhages in every quadrant (Fig. 1), sparing the macula.",
        "Fluorescein angiography confirmed delayed venous filling and areas without perfusion (Fig. 2).",
        "Blood pressure and glucose were within normal limits and no thrombophilia was detected.",
        "Monthly injections improved acuity over half a year, and the oedema did not return.",
    ],
}
CAPTIONS = {
    "pmc:PMC901.1": [
        "Frontal view of the thorax at presentation.",
        "Sonogram with loculated fluid above the diaphragm.",
    ],
    "pmc:PMC902.2": ["Colour photograph of the retina.", "Late phase of the angiogram, temporal arcade."],
}
STAGES = ("crawl", "extract", "visual_context", "visual_context_all", "partition")


_QUERY = asking.query("1GB")


class _InTinyBatches:
    """The product's runner, in tiny batches: whoever reads rows reads more than one of them."""

    def __call__(self, text: str, views: Mapping[str, Sequence[Path]]) -> Iterator[pa.RecordBatch]:
        for batch in _QUERY(text, views):
            for start in range(0, max(batch.num_rows, 1), 3):
                yield batch.slice(start, 3)

    def sandbox(self) -> Sandbox:
        return _QUERY.sandbox()


run_sql = _InTinyBatches()


def noise_image(kind: str, seed: int, mode: str = "RGB") -> bytes:
    """A deterministic small image; no two seeds look alike."""
    size = (40 + seed, 30)
    count = size[0] * size[1] * (1 if mode in ("L", "P") else 3)
    image = Image.frombytes(mode, size, random.Random(seed).randbytes(count))
    out = io.BytesIO()
    image.save(out, format=kind)
    return out.getvalue()


@record
class Text:
    """What the gate for restricted strings reads of a passage."""

    article_id: str = column("article")
    text: str = column("its text")
    text_sha256: str = column("hex SHA-256 of its text")


@record
class Caption:
    """What it reads of a figure."""

    article_id: str = column("article")
    caption: str = column("caption")
    translations: tuple[Translated, ...] = column("the same in other languages", default=())


@dataclass
class World:
    """Rows of a build and everything a release is made of; tests change a copy before `write`."""

    root: Path
    queries: list[Query] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    qrels: list[Qrel] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    drops: dict[str, list[Drop]] = field(default_factory=dict)
    retention: list[Retention] = field(default_factory=list)
    profile: str = "open"
    more: dict[str, list[Path]] = field(default_factory=dict)
    dev: set[str] = field(default_factory=set)
    withheld: list[Withheld] = field(default_factory=list)
    labels: list[RecordLabels] = field(default_factory=list)
    tasks: tuple[str, ...] = ("visual_context",)
    citation: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {"visual_context": dict(TASKS["visual_context"].per_article.params)}
    )

    @property
    def cards(self) -> Path:
        return self.root / "data_cards" / "known"

    def tables(self) -> dict[str, list[Path]]:
        """Write the work tables, each in two shards, and return their files."""
        work = self.root / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        found: dict[str, list[Path]] = {}
        kinds: list[tuple[str, type, Sequence[Any]]] = [
            ("queries", Query, self.queries),
            ("documents", Document, self.documents),
            ("qrels", Qrel, self.qrels),
            ("excluded", Excluded, self.excluded),
            ("sources", Source, self.sources),
            ("passages", Text, self.passages()),
            ("figures", Caption, self.captions()),
            ("labels", RecordLabels, self.labels),
            ("keys", OverlapKey, self.keys()),
            ("assignments", Assignment, self.assignments()),
            ("withheld", Withheld, self.withheld),
            *((f"drops/{stage}", Drop, rows) for stage, rows in self.drops.items()),
        ]
        for name, kind, rows in kinds:
            for number, part in enumerate((rows[1::2], rows[::2])):
                path = work / f"{name.replace('/', '-')}-{number}.parquet"
                pq.write_table(to_table(kind, part), path)
                found.setdefault(name, []).append(path)
        return {**found, **self.more}

    def passages(self) -> list[Text]:
        """Source texts of the documents."""
        return [
            Text(article_id=article, text=text, text_sha256=sha256_text(text))
            for article, texts in PASSAGES.items()
            for text in texts
        ]

    def captions(self) -> list[Caption]:
        """Source texts of the queries."""
        return [
            Caption(article_id=article, caption=text) for article, texts in CAPTIONS.items() for text in texts
        ]

    def assignments(self) -> list[Assignment]:
        """Every query's split; queries of `dev` are in dev."""
        return [
            Assignment(
                task=query.task,
                query_id=query.id,
                split="dev" if query.id in self.dev else "test",
                group=query.id,
            )
            for query in self.queries
        ]

    def keys(self) -> list[OverlapKey]:
        """What each query and its positives rest on, as the partition writes it."""
        documents = {document.id: document for document in self.documents}
        found: set[tuple[str, str, str, str]] = set()
        for query in self.queries:
            positives = [
                documents[qrel.corpus_id]
                for qrel in self.qrels
                if qrel.query_id == query.id and qrel.score > 0 and qrel.corpus_id in documents
            ]
            keys = [("query", sha256_text(normalise_text(query.text)))]
            keys += [("target_concept", target) for target in query.targets]
            keys += [("query", f"family:{query.family}")] if query.family else []
            rows: list[Query | Document] = [query, *positives]
            for row in rows:
                keys.append(("article", family_key(row.article_id)))
                if row.patient_id:
                    article, _, case = row.patient_id.partition("#")
                    keys.append(("patient", f"{family_key(article)}#{case}"))
                if row.image is not None:
                    keys.append(("image_family", f"sha256:{row.image.sha256}"))
            found |= {(query.task, query.id, dimension, key) for dimension, key in keys}
        return [
            OverlapKey(task=task, query_id=name, dimension=dimension, key=key)  # type: ignore[arg-type]
            for task, name, dimension, key in sorted(found)
        ]

    def release(self, out: str = "releases", version: str = "1.0.0", **options: Any) -> Path:
        """Release; the task directory."""
        self.manifest(out, version, **options)
        return self.root / out / "known" / version / "visual_context"

    def manifest(self, out: str = "releases", version: str = "1.0.0", **options: Any) -> ReleaseManifest:
        """Release; the manifest."""
        spec = DatasetSpec.model_validate(
            {
                "name": "known",
                "title": "Known release",
                "licence_profile": self.profile,
                "expert_minimum": 5,
                "citation": self.citation,
                "tasks": {name: {} for name in self.tasks},
            }
        )
        build = BuildRecord(
            storage_version=1,
            stages=tuple(StageRecord(name, 1, self.settings.get(name, {})) for name in STAGES),
            retention=tuple(self.retention),
            made_with=options.pop("made_with", {}),
        )
        derive: Callable[[Written], tuple[str, ...]] = options.pop("derive", lambda _: ())
        inputs = Inputs(
            TASK,
            self.tables(),
            raw=self.root / "raw",
            spec=spec,
            version=version,
            build=build,
            query=options.pop("query", run_sql),
            **options,
        )
        prose = load_prose(self.cards, [TASK.name])[TASK.name]
        target = self.root / out / spec.name / version / TASK.name
        with aside(target) as directory:
            written = write(inputs, directory)
            shaped_by = derive(written)
            return seal(
                written,
                target,
                inputs.query,
                prose=prose,
                cards=self.cards.name,
                change={},
                shaped_by=shaped_by,
                citation=spec.citation,
            )


TASK = replace(
    TASKS["visual_context"],
    title="Visual context",
    description="Find the passages that discuss a figure.",
)


def _document(article: str, number: int, text: str) -> Document:
    pointer = f" (Fig. {number})"
    at = text.find(pointer)
    released = text.replace(pointer, "")
    change = (Transform(start=at, end=at, original=pointer, rule="figure_pointer"),) if at >= 0 else ()
    return Document(
        id=f"{article}#p{number}",
        task="visual_context",
        title=f"Report {article}",
        text=released,
        language="en",
        article_id=article,
        license="CC-BY-4.0" if article == "pmc:PMC901.1" else "CC-BY-SA-4.0",
        license_evidence="jats:license/@href",
        text_sha256=sha256_text(text),
        transforms=change,
    )


def _query(root: Path, article: str, number: int, caption: str, kind: str) -> Query:
    data = noise_image(kind, 2 * number + int(article[9]), "P" if kind == "gif" else "RGB")
    name = f"{article[4:]}/f{number}.{kind}"
    path = root / "raw" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    digest = sha256_bytes(data)
    graphic = Graphic(href=f"f{number}", name=path.name, path=name, sha256=digest, format=kind)
    return Query(
        id=query_id("visual_context", caption, digest),
        task="visual_context",
        text=caption,
        language="en",
        image=graphic,
        image_count=1,
        source_id=f"{article}#F{number}",
        article_id=article,
        license="CC-BY-4.0",
        license_evidence="jats:license/@href",
        text_sha256=sha256_text(caption),
    )


def make_world(root: Path) -> World:
    """The known build."""
    world = World(root)
    kinds = iter(("jpeg", "png", "gif", "jpeg"))
    for article, passages in PASSAGES.items():
        world.documents += [_document(article, number, text) for number, text in enumerate(passages, start=1)]
        for number, caption in enumerate(CAPTIONS[article], start=1):
            query = _query(root, article, number, caption, next(kinds))
            world.queries.append(query)
            _judge(world, query, article, number, passages)
        world.sources.append(_source(article))
    world.sources.append(_source("pmc:PMC909.1"))  # used by no row: must not be released
    lost = [
        ("article", "pmc:PMC903.1", Reason.RETRACTED),
        ("article", "pmc:PMC904.1", Reason.LICENCE_NOT_ALLOWED),
    ]
    world.drops = {stage: [] for stage in STAGES}
    world.drops["crawl"] = [Drop(unit=unit, id=of, article_id=of, reason=why) for unit, of, why in lost]
    figure = "pmc:PMC902.2#F3"
    world.drops["visual_context"] = [
        Drop(
            unit="figure", id=figure, article_id="pmc:PMC902.2", reason=Reason.NO_CITING_PASSAGE, detail="a|b"
        )
    ]
    world.retention = [
        Retention("crawl", "article", 4, 2),
        Retention("extract", "article", 2, 2),
        Retention("visual_context", "figure", 5, 4),
        Retention("visual_context_all", "query", 4, 4),
        Retention("partition", "query", 4, 4),
    ]
    write_prose(world.cards, [TASK.name], "About it.")
    summary = "There are {{ counts.queries | number }} queries.\n"
    (world.cards / TASK.name / "summary.md").write_text(summary, encoding="utf-8")
    return world


def write_prose(folder: Path, tasks: Sequence[str], text: str) -> None:
    """Every file of prose that the card of some tasks needs."""
    names = [*OF_DATASET, *(f"{task}/{section}" for task in tasks for section in OF_TASK)]
    for name in names:
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")


def _judge(world: World, query: Query, article: str, number: int, passages: list[str]) -> None:
    text = passages[number - 1]
    cited = f"{article}#p{number}"
    evidence = Evidence(text_id=cited, start=0, end=len(text), text=text)
    world.qrels.append(
        Qrel(
            query_id=query.id,
            corpus_id=cited,
            score=2,
            task="visual_context",
            rule="visual_context/cites-xref@1",
            label_status="structural",
            evidence=(evidence,),
        )
    )
    world.excluded += [
        Excluded(
            query_id=query.id, corpus_id=f"{article}#p{other}", task="visual_context", reason="own_article"
        )
        for other in range(1, len(passages) + 1)
        if other != number
    ]


def _source(article: str) -> Source:
    spdx = "CC-BY-SA-4.0" if article == "pmc:PMC902.2" else "CC-BY-4.0"
    return Source(
        id=article,
        title=f"Report {article}",
        journal="Journal of Reports",
        year=2024,
        pmcid=article[4:].split(".")[0],
        doi=f"10.5555/{article[7:10]}",
        language="en",
        licence=Licence(spdx=spdx, evidence="jats:license/@href"),
        raw_sha256=sha256_text(article),
    )


def edit(directory: Path, folder: str, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Rewrite one table's file by hand, as someone with a Parquet editor would."""
    (path,) = (directory / folder).glob("*.parquet")
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
