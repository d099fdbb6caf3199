"""A made-up release of any size: two sibling tasks, clean, with every published table, true to one another.

Texts, pictures, names and articles are invented and marked synthetic. Written row group by row group with the
product's own writer, card and hashes, so that `medqrels audit` reads it like any other release.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.generated_articles import READ, funnel, source
from benchmarks.generated_pictures import Picture, pictures
from benchmarks.generated_shape import CITABLE, PER_ARTICLE, Shape, judge, shapes
from benchmarks.generated_texts import Writer
from curation.published.manifest import FORMAT_VERSION, NAME, ReleaseManifest, hash_files
from curation.published.writer import write_table
from curation.release import card, facts
from curation.release.rights import combined_family
from curation.release.target_names import names_rows
from curation.tasks.registry import TASKS
from flows.engine.connection import query as database
from schemas.grades import EXCLUSIONS
from schemas.hashing import normalise_text, sha256_text
from schemas.ids import family_key, query_id
from schemas.published import Published
from schemas.spec import Citation
from schemas.tables import (
    CORPUS,
    DROPS,
    EXCLUDED,
    FUNNEL,
    KEYS,
    ORIGIN_CORPUS,
    ORIGIN_QRELS,
    ORIGIN_QUERIES,
    QRELS,
    QUERIES,
    SOURCES,
    TARGET_NAMES,
)

DATASET, VERSION = "made-up", "1.0.0"
_CHUNK = 10_000
_PICTURES = 400
_NEAR, _BOILERPLATE = 0.004, 0.3
_LICENCES = ("CC-BY-4.0", "CC0-1.0")
_CORPUS = CORPUS.without("image")

Row = dict[str, Any]
Array = Any


class Task:
    """Writes one task directory."""

    def __init__(self, shape: Shape, directory: Path, drawn: Sequence[Future[list[Picture]]]) -> None:
        self.shape, self.directory, self.pictures = shape, directory, drawn
        self.judged = judge(shape)
        self.writer = Writer(shape.seed)
        random = shape.random(1)
        self.licence = random.choice(len(_LICENCES), shape.articles, p=(0.8, 0.2))
        self.titles = self.writer.titles(shape.random(2), shape.articles)
        self.evidence: dict[int, tuple[int, int, str]] = {}

    def write(self) -> None:
        """Every table, the card and release.json."""
        self.corpus()
        self.queries()
        self.sources()
        self.funnel()
        if self.shape.is_about_cases:
            self.target_names()
        self.head()

    def table(self, table: Published, chunks: Iterator[pa.Table], split: str = "test") -> None:
        """One table, or one split of it."""
        write_table(table, chunks, self.directory, split=split)

    def corpus(self) -> None:
        """Documents and their provenance."""
        origins: list[pa.Table] = []
        cited = np.unique(np.concatenate([self.judged.first, self.judged.second]))
        total = self.shape.articles * PER_ARTICLE

        def chunks() -> Iterator[pa.Table]:
            for start in range(0, total, _CHUNK):
                released, origin = self._documents(start, min(start + _CHUNK, total), cited)
                origins.append(origin)
                yield released

        self.table(_CORPUS, chunks())
        self.table(ORIGIN_CORPUS, iter(origins))

    def _documents(self, start: int, end: int, cited: Array) -> tuple[pa.Table, pa.Table]:
        shape = self.shape
        random = shape.random(3, start)
        texts = self.writer.texts(random, np.clip(random.normal(150, 40, end - start), 40, 320).astype(int))
        number = np.arange(start, end)
        place = number % PER_ARTICLE
        with_common = (place >= CITABLE) & (random.random(len(number)) < _BOILERPLATE)
        for at in np.flatnonzero(with_common):
            texts[at] += " " + self.writer.boilerplate(random)
        for at in np.flatnonzero((place == PER_ARTICLE - 1) & (random.random(len(number)) < _NEAR)):
            texts[at] = self.writer.nearly(random, texts[at - 1])
        sources = list(texts)
        transforms: list[list[Row]] = [[] for _ in texts]
        for at in (cited[(cited >= start) & (cited < end)] - start).tolist():
            sources[at], transforms[at] = self._cite(start + at, texts[at])
        article = number // PER_ARTICLE
        ids = [shape.document(one) for one in number.tolist()]
        released: dict[str, list[Any]] = {
            "id": ids,
            "title": [self.titles[one] for one in article],
            "text": texts,
            **self._rights(article),
        }
        own = [shape.article(one) for one in article.tolist()]
        origin: dict[str, list[Any]] = {
            "id": ids,
            "article_id": own,
            "patient_id": [f"{name}#case1" if shape.is_about_cases else "" for name in own],
            "license_evidence": [READ] * len(ids),
            "text_sha256": [sha256_text(text) for text in sources],
            "transforms": transforms,
            **{name: [None] * len(ids) for name in _IMAGE_COLUMNS},
            "image_transform": [""] * len(ids),
        }
        return _table(_CORPUS, released), _table(ORIGIN_CORPUS, origin)

    def _cite(self, number: int, text: str) -> tuple[str, list[Row]]:
        """A positive's source text and what was changed in it; remembers the words its labels rest on."""
        at = text.index(" ", 40)
        if self.shape.is_about_cases:
            self.evidence[number] = (0, at, text[:at])
            return text, []
        pointer = f" (Fig. {1 + number % 5})"
        source = text[:at] + pointer + text[at:]
        self.evidence[number] = (at - 20, at + len(pointer), source[at - 20 : at + len(pointer)])
        return source, [{"start": at, "end": at, "original": pointer, "rule": "figure_pointer"}]

    def _rights(self, article: Array) -> dict[str, list[Any]]:
        """Language, licence and mark of rows by their article."""
        return {
            "language": ["en"] * len(article),
            "license": [_LICENCES[one] for one in self.licence[article]],
            "is_synthetic": [True] * len(article),
        }

    def queries(self) -> None:
        """Queries with their pictures, and all that hangs on them, in order of their ids."""
        texts, drawn = self._asked()
        names = [
            query_id(self.shape.name, text, picture.sha256)
            for text, picture in zip(texts, drawn, strict=True)
        ]
        order = sorted(range(len(names)), key=names.__getitem__)
        origins: list[pa.Table] = []
        with contextlib.ExitStack() as held:
            files = {path: held.enter_context(path.open("rb")) for path in {one.path for one in drawn}}
            for split in ("test", "dev"):
                chosen = [number for number in order if bool(self.judged.is_dev[number]) == (split == "dev")]

                def chunks(chosen: Sequence[int] = chosen) -> Iterator[pa.Table]:
                    for start in range(0, len(chosen), 1_000):
                        yield self._query_rows(chosen[start : start + 1_000], names, texts, drawn, files)

                self.table(QUERIES, chunks(), split)
                self._labels(chosen, names, split)
        for start in range(0, len(order), _CHUNK):
            origins.append(self._origins(order[start : start + _CHUNK], names, texts, drawn))
        self.table(ORIGIN_QUERIES, iter(origins))
        self._keys(order, names, texts, drawn)
        self._evidence(order, names)

    def _asked(self) -> tuple[list[str], list[Picture]]:
        """Texts and pictures of all queries."""
        shape, count = self.shape, self.shape.queries
        words = (40, 110) if shape.is_about_cases else (14, 45)
        texts: list[str] = []
        for start in range(0, count, _CHUNK):
            random = shape.random(4, start)
            texts += self.writer.texts(random, random.integers(*words, min(_CHUNK, count - start)))
        drawn = (one for part in self.pictures for one in part.result())
        return texts, list(drawn)

    def _query_rows(
        self, part: Sequence[int], names: Any, texts: Any, drawn: Sequence[Picture], files: Any
    ) -> pa.Table:
        images = []
        for picture in (drawn[number] for number in part):
            files[picture.path].seek(picture.offset)
            data = files[picture.path].read(picture.length)
            images.append({"bytes": data, "path": f"{picture.sha256[:32]}.jpeg"})
        rights = self._rights(self.shape.article_of(np.array(part, np.int64)))
        columns = {"id": [names[one] for one in part], "text": [texts[one] for one in part], "image": images}
        return _table(QUERIES, columns | rights)

    def _origins(self, part: Sequence[int], names: Any, texts: Any, drawn: Any) -> pa.Table:
        shape, count = self.shape, len(part)
        articles = [shape.article(int(one)) for one in shape.article_of(np.array(part, np.int64))]
        record = "case1" if shape.is_about_cases else "F{}"
        return _table(
            ORIGIN_QUERIES,
            {
                "id": [names[one] for one in part],
                "split": ["dev" if self.judged.is_dev[one] else "test" for one in part],
                "source_id": [
                    f"{name}#{record.format(one)}" for name, one in zip(articles, part, strict=True)
                ],
                "article_id": articles,
                "patient_id": [f"{name}#case1" if shape.is_about_cases else "" for name in articles],
                "family": [""] * count,
                "hides_target": [shape.is_about_cases] * count,
                "since": [VERSION] * count,
                "license_evidence": [READ] * count,
                "text_sha256": [sha256_text(texts[one]) for one in part],
                "transforms": [[] for _ in part],
                "image_source_sha256": [drawn[one].sha256 for one in part],
                "image_sha256": [drawn[one].sha256 for one in part],
                "image_transform": [""] * count,
                "image_width": [drawn[one].width for one in part],
                "image_height": [drawn[one].height for one in part],
                "image_count": [1] * count,
            },
        )

    def _labels(self, chosen: Sequence[int], names: Sequence[str], split: str) -> None:
        """Positives of some queries, and the other documents of their own articles set aside."""
        shape = self.shape
        rule = "same-diagnosis" if shape.is_about_cases else "cites-xref"

        def positives() -> Iterator[pa.Table]:
            for start in range(0, len(chosen), _CHUNK):
                pairs = [
                    (names[one], shape.document(other))
                    for one in chosen[start : start + _CHUNK]
                    for other in self.judged.of(one)
                ]
                yield _table(
                    QRELS,
                    {
                        "query-id": [one for one, _ in pairs],
                        "corpus-id": [other for _, other in pairs],
                        "score": [2] * len(pairs),
                        "label_status": ["structural"] * len(pairs),
                        "rule": [f"{shape.name}/{rule}@1"] * len(pairs),
                    },
                )

        def aside() -> Iterator[pa.Table]:
            for start in range(0, len(chosen), 1_000):
                pairs = []
                for one in chosen[start : start + 1_000]:
                    first = int(shape.article_of(one)) * PER_ARTICLE
                    taken = self.judged.of(one)
                    others = (other for other in range(first, first + PER_ARTICLE) if other not in taken)
                    pairs += [(names[one], shape.document(other)) for other in others]
                columns = {
                    "query-id": [one for one, _ in pairs],
                    "corpus-id": [other for _, other in pairs],
                    "reason": ["own_article"] * len(pairs),
                }
                yield _table(EXCLUDED, columns)

        self.table(QRELS, positives(), split)
        self.table(EXCLUDED, aside(), split)

    def _keys(self, order: Sequence[int], names: Any, texts: Any, drawn: Any) -> None:
        """What each query and its positives rest on."""
        shape = self.shape

        def chunks() -> Iterator[pa.Table]:
            for start in range(0, len(order), _CHUNK):
                rows: list[tuple[str, str, str]] = []
                for one in order[start : start + _CHUNK]:
                    own = int(shape.article_of(one))
                    articles = {family_key(shape.article(place)) for place in (own, shape.answering(own))}
                    keys = [
                        ("query", sha256_text(normalise_text(texts[one]))),
                        ("image_family", f"sha256:{drawn[one].sha256}"),
                        *(("article", name) for name in articles),
                    ]
                    if shape.is_about_cases:
                        keys += [("patient", f"{name}#case1") for name in articles]
                        keys.append(("target_concept", _concept(own)))
                    rows += [(names[one], *key) for key in sorted(keys)]
                columns = zip(*rows, strict=True)
                yield _table(KEYS, dict(zip(KEYS.schema.names, map(list, columns), strict=True)))

        self.table(KEYS, chunks())

    def _evidence(self, order: Sequence[int], names: Sequence[str]) -> None:
        """The words each label rests on."""

        def chunks() -> Iterator[pa.Table]:
            for start in range(0, len(order), _CHUNK):
                pairs = [
                    (names[one], other)
                    for one in order[start : start + _CHUNK]
                    for other in self.judged.of(one)
                ]
                spans = [self.evidence[other] for _, other in pairs]
                documents = [self.shape.document(other) for _, other in pairs]
                columns: dict[str, list[Any]] = {
                    "query-id": [one for one, _ in pairs],
                    "corpus-id": documents,
                    "evidence": [
                        [{"text_id": name, "start": first, "end": last, "text": words}]
                        for name, (first, last, words) in zip(documents, spans, strict=True)
                    ],
                }
                yield _table(ORIGIN_QRELS, columns)

        self.table(ORIGIN_QRELS, chunks())

    def sources(self) -> None:
        """The articles."""

        def chunks() -> Iterator[pa.Table]:
            for start in range(0, self.shape.articles, _CHUNK):
                numbers = range(start, min(start + _CHUNK, self.shape.articles))
                rows = [
                    source(self.shape, one, self.titles[one], _LICENCES[self.licence[one]]) for one in numbers
                ]
                yield pa.Table.from_pylist(rows, schema=SOURCES.schema)

        self.table(SOURCES, chunks())

    def funnel(self) -> None:
        """The way from crawled articles to released queries."""
        drops, steps = funnel(self.shape)
        self.table(DROPS, iter([_table(DROPS, drops)]))
        self.table(FUNNEL, iter([_table(FUNNEL, steps)]))

    def target_names(self) -> None:
        """Names of the target concepts, in three languages; none of them can stand in a text made here."""

        def chunks() -> Iterator[pa.Table]:
            for start in range(0, self.shape.articles, _CHUNK):
                rows = []
                for number in range(start, min(start + _CHUNK, self.shape.articles), 2):
                    rows += names_rows(_concept(number), self.writer.names(self.shape.random(5, number)))
                yield pa.Table.from_pylist(rows, schema=TARGET_NAMES.schema)

        self.table(TARGET_NAMES, chunks())

    def head(self) -> None:
        """The card and release.json, from the files themselves."""
        numbers = facts.compute(self.directory, database("1GB"))
        named = EXCLUSIONS | {code: text for task in TASKS.values() for code, text in task.exclusions.items()}
        used = {row["reason"] for row in numbers["exclusions"]}
        manifest = ReleaseManifest(
            format_version=FORMAT_VERSION,
            dataset=DATASET,
            title="Made-up release",
            version=VERSION,
            task=self.shape.name,
            task_title=self.shape.name.replace("_", " ").capitalize(),
            task_description="Made up to measure the audit.",
            licence_profile="open",
            license=combined_family(row["license"] for row in numbers["licences"]) or "",
            label="silver",
            expert_minimum=80,
            publishable_by_content=False,
            not_publishable_because=("It contains rows made from synthetic input.",),
            accessed=None,
            grades={"2": "Made up to be relevant."},
            exclusions={reason: meaning for reason, meaning in named.items() if reason in used},
            versions={"generator": 1},
            stages=(),
            overrides={},
            counts=numbers["counts"],
            files={},
            siblings=(self.shape.sibling,),
        )
        prose = dict.fromkeys(card.PROSE, "Every text, picture, name and article here is made up.")
        card.write(self.directory, manifest, numbers, prose, database("1GB"), Citation())
        seal(self.directory, manifest)


_IMAGE_COLUMNS = ("image_source_sha256", "image_sha256", "image_width", "image_height")


def _concept(article: int) -> str:
    """Target concept of an article and of the one it is paired with."""
    return f"MADEUP:{article // 2:07d}"


def _table(table: Published, columns: Mapping[str, list[Any]]) -> pa.Table:
    """Rows of a table; a column that is not given is '' everywhere, or 0."""
    count = len(next(iter(columns.values())))
    arrays = [
        pa.array(
            columns.get(field.name, [0.0 if pa.types.is_floating(field.type) else ""] * count), field.type
        )
        for field in table.schema
    ]
    return pa.table(arrays, schema=table.schema)


def seal(directory: Path, manifest: ReleaseManifest) -> None:
    """Write release.json with the hashes of the files as they are now."""
    head = dataclasses.replace(manifest, files=hash_files(directory))
    head = dataclasses.replace(head, release_hash=head.computed_hash())
    (directory / NAME).write_text(head.to_json(), encoding="utf-8", newline="\n")


def _draw(shape: Shape, scratch: Path, pool: Executor) -> list[Future[list[Picture]]]:
    """Pictures of a task's queries, drawn while its texts are written."""
    found = []
    for start in range(0, shape.queries, _PICTURES):
        count = min(_PICTURES, shape.queries - start)
        path = scratch / f"{shape.name}-{start}"
        found.append(pool.submit(pictures, path, shape.seed, shape.number, start, count))
    return found


def generate(out: Path, documents: int, queries: int, seed: int = 5, workers: int = 2) -> list[Path]:
    """Write `<out>/made-up/1.0.0/<task>/` for both tasks and return their folders.

    Args:
        out: where the release goes.
        documents: of both tasks together; rounded down to whole articles.
        queries: of both tasks together.
        seed: of everything that is drawn by chance; the same arguments give the same bytes.
        workers: processes that draw pictures.
    """
    made = []
    with (
        tempfile.TemporaryDirectory(prefix="generate-", dir=out if out.is_dir() else None) as scratch,
        ProcessPoolExecutor(workers) as pool,
    ):
        wanted = shapes(documents, queries, seed)
        drawn = [_draw(shape, Path(scratch), pool) for shape in wanted]
        for shape, pictured in zip(wanted, drawn, strict=True):
            directory = out / DATASET / VERSION / shape.name
            directory.mkdir(parents=True)
            Task(shape, directory, pictured).write()
            made.append(directory)
    return made


def main() -> int:
    """Write a release of the wanted size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--queries", type=int, required=True)
    parser.add_argument("--seed", type=int, default=5)
    chosen = parser.parse_args()
    started = time.perf_counter()
    for directory in generate(chosen.out, chosen.documents, chosen.queries, chosen.seed):
        print(directory)
    print(f"{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
