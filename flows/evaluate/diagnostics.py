"""Runs systems on text alone, image alone, both, and another query's image, and tries shortcuts, per query.

A condition that cannot run is null with its reason; nothing is put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curation.derived.diagnostics import captions as words
from curation.derived.diagnostics.candidates import SAMPLE, candidates, from_published, published, sampled
from curation.derived.diagnostics.conditions import CONDITIONS, TOLERANCE, Values
from curation.derived.diagnostics.derange import SEED, derange, families
from curation.derived.diagnostics.features import UNKNOWN, patients_of, query_numbers, read_features
from curation.derived.diagnostics.scores import ShortcutValues, asked_of, solve
from curation.derived.diagnostics.shortcuts import Lists
from curation.derived.diagnostics.table import Diagnosed, write_diagnostics, write_notes
from curation.evaluation import bm25, measures
from curation.evaluation.collection import Collection
from curation.evaluation.dense import (
    Embedding,
    EmbedRequest,
    packed,
    read_vectors,
    search_vectors,
    write_embeddings,
)
from curation.evaluation.labels import RELEVANT
from curation.evaluation.ranking import EMPTY, RRF_K, Run, fuse
from curation.evaluation.requests import document_requests, picture_embeddings
from curation.evaluation.results import Measured
from curation.evaluation.runs import file_stem
from curation.evaluation.systems import System, parse_systems
from curation.evaluation.terms import Analyser
from curation.tasks.registry import TASKS
from flows.adapters.encoder import Encoder, answer
from flows.evaluate.retrieval import Bench
from schemas.tables import TOP_RANKED

_BM25 = System("bm25")
_NO_IMAGES = "queries of this task have no images"
_NO_SYSTEM = "no system compares images with texts"
_NO_TEXT = "no system was run on the query's text"


@dataclass(frozen=True, slots=True)
class DiagnosticOptions:
    """What shapes the diagnostics.

    `text` names the text systems of which the best is taken; `image` the system that reads images (a clip:
    model or `image`), '' to take the first clip: model the bench ran, else `image`; `depth` is how many
    documents of each run are candidates of shortcuts where the release has no top_ranked.
    """

    text: tuple[str, ...] = ("bm25",)
    image: str = ""
    depth: int = 20


@dataclass(frozen=True, slots=True)
class DiagnosticSummary:
    """Rows written, and what `runs/diagnostics.json` tells of the split: systems, reasons, settings."""

    rows: int
    notes: Mapping[str, Any]


@dataclass
class _Asked:
    """One condition: its run, the queries it holds for, the system, and why it is null elsewhere."""

    run: Run | None = None
    queries: frozenset[str] = frozenset()
    system: str = ""
    why_not: str = ""
    not_for: dict[str, int] = field(default_factory=dict)


def diagnose(
    bench: Bench,
    collection: Collection,
    directory: Path,
    options: DiagnosticOptions = DiagnosticOptions(),
) -> DiagnosticSummary:
    """Write the diagnostics table of one split and its notes into a task directory.

    Args:
        bench: the systems; what it has run is not run again. Its scratch folder must still be there.
        collection: the split of `bench`.
        directory: the task folder, with its published tables; top_ranked is used when it has it.
        options: systems and depth.

    Raises:
        ReleaseError: a published candidate is not in the corpus.
        InputError: an image is missing or cannot be decoded.
        UsageError: a named system is none, or its model cannot be loaded.
    """
    queries = tuple(measures.measured(collection))
    with bench.reporter.stage("necessity", len(CONDITIONS), "conditions") as steps:
        asked = _Conditions(bench, collection, directory, options).all()
        values = {name: _ndcg(asked[name], collection) for name in CONDITIONS}
        steps.advance(len(CONDITIONS))
    solvable, why_not = _solvable(bench, collection, queries)
    lists, source = _candidates(bench, collection, directory, queries, options.depth)
    tried = _shortcuts(bench, collection, directory, queries, lists)
    found = Diagnosed(queries, values, solvable, lists.sizes, tried)
    rows = write_diagnostics(collection, found, directory)
    notes = {
        "conditions": {name: _told(asked[name], values[name]) for name in CONDITIONS},
        "bm25_solvable": {"why_not": why_not},
        "shortcuts": {"candidates": source, "why_not": dict(tried.why_not)},
        "needs_tolerance": TOLERANCE,
        "fusion": {"method": "reciprocal rank", "constant": RRF_K, "depth": bench.options.k},
        "shuffled_image_seed": SEED,
        "queries": len(collection.queries),
        "queries_without_positive": collection.unlabelled,
    }
    write_notes(directory, collection.split, notes)
    return DiagnosticSummary(rows, notes)


class _Conditions:
    """The runs of one split under every condition."""

    def __init__(
        self, bench: Bench, collection: Collection, directory: Path, options: DiagnosticOptions
    ) -> None:
        self.bench, self.collection, self.directory = bench, collection, directory
        self.queries = frozenset(measures.measured(collection))
        self.written = frozenset(query.id for query in collection.queries if query.text) & self.queries
        self.options = options
        self.image_system = self._image_system()
        self.encoder: Encoder | None = None
        self.files: tuple[Path, Path] | None = None

    def all(self) -> dict[str, _Asked]:
        """Every condition."""
        image = self._image()
        text, chosen = self._text()
        both = self._fused(text, image)
        return {
            "text_only": text,
            "image_only": image,
            "text_and_image": both,
            "shuffled_image": self._shuffled(text, image),
            "caption_for_image": self._caption(text, chosen),
        }

    def _image_system(self) -> System | None:
        """The system that reads images: the one named, else a clip: model that ran, else local features."""
        if self.options.image:
            return parse_systems([self.options.image])[0]
        for system in self.bench.asked.values():
            if system.kind == "clip" and not system.reranker:
                return system
        data = self.collection
        return System("image") if data.has_query_images and data.has_corpus_images else None

    def _text(self) -> tuple[_Asked, System | None]:
        """The best of the text systems by mean nDCG@10; where none can run, a clip: model on the text."""
        best: tuple[float, _Asked, System] | None = None
        lacking = ""
        for system in parse_systems(self.options.text):
            made = self.bench.run(system)
            if made.run is None:
                lacking = lacking or made.why_not
                continue
            asked = self._for(made.run, self.written, made.name, "the query has no text")
            mean = float(np.nanmean(_ndcg(asked, self.collection))) if asked.queries else 0.0
            if best is None or mean > best[0]:
                best = (mean, asked, system)
        if best is not None:
            return best[1], best[2]
        if self.image_system is not None and self.image_system.kind == "clip" and self.written:
            requests = self._requests(with_text=True)
            run = self._clip(requests, "texts")[0]
            name = f"{self.image_system.name}, text alone"
            return self._for(run, self.written, name, "the query has no text"), None
        return _Asked(why_not=lacking or _NO_TEXT), None

    def _image(self) -> _Asked:
        """The ranking by images alone; keeps the vectors, which are given to other queries later."""
        if not self.collection.has_query_images:
            return _Asked(why_not=_NO_IMAGES)
        system = self.image_system
        if system is None:
            return _Asked(why_not=_NO_SYSTEM)
        if system.kind == "image":
            made = self.bench.run(system)
            if made.run is None:
                return _Asked(why_not=made.why_not)
            self.files = self._features(made)
            run: Run = made.run
        else:
            run, self.files = self._clip(self._requests(with_text=False), "images")
        return self._for(run, frozenset(run) & self.queries, f"{system.name}, image alone", words.NO_IMAGE)

    def _features(self, made: Measured) -> tuple[Path, Path]:
        """Local features of both sides; the bench's own files are used while they are there."""
        found = []
        sides = (("queries", self.collection.query_images), ("corpus", self.collection.corpus_images))
        for side, images in sides:
            path = self.bench.scratch / f"{made.name}-{side}.parquet"
            if not path.is_file():
                write_embeddings(picture_embeddings(images()), path)
            found.append(path)
        return found[0], found[1]

    def _requests(self, *, with_text: bool) -> Iterator[EmbedRequest]:
        """Texts alone, or images alone, of the queries that have one."""
        if not with_text:
            for query, data in self.collection.query_images():
                yield EmbedRequest(id=query, role="query", text="", image=data)
            return
        for item in self.collection.queries:
            if item.text:
                yield EmbedRequest(id=item.id, role="query", text=item.text)

    def _clip(self, requests: Iterator[EmbedRequest], name: str) -> tuple[Run, tuple[Path, Path]]:
        """Ranking of the documents as they are (image, text or both) by a clip: model's query vectors."""
        from flows.adapters.models import ClipEncoder

        system, bench, data = self.image_system, self.bench, self.collection
        assert system is not None
        if self.encoder is None:
            given = bench.options
            self.encoder = ClipEncoder(system.model, given.query_prompt, given.document_prompt)
        queries = bench.scratch / f"necessity-{name}.parquet"
        answer(requests, self.encoder, queries, bench.cache)
        corpus = bench.scratch / f"{file_stem(system.base.name)}-corpus.parquet"
        if not corpus.is_file():
            answer(document_requests(data, images=True), self.encoder, corpus, bench.cache)
        run = search_vectors(queries, corpus, data.corpus_ids, data.left_out, bench.options.k)
        return run, (queries, corpus)

    def _for(self, run: Run, queries: frozenset[str], system: str, why_not: str) -> _Asked:
        """A condition that holds for some of the measured queries."""
        others = len(self.queries) - len(queries)
        return _Asked(run, queries, system, "", {why_not: others} if others else {})

    def _fused(self, text: _Asked, image: _Asked) -> _Asked:
        if text.run is None or image.run is None:
            return _Asked(why_not=image.why_not or text.why_not)
        queries = text.queries & image.queries
        run = fuse([text.run, image.run], sorted(queries), self.bench.options.k)
        system = f"reciprocal rank fusion of {text.system} and {image.system}"
        return self._for(run, queries, system, "the query lacks text or image")

    def _shuffled(self, text: _Asked, image: _Asked) -> _Asked:
        """As both, each query with an unrelated image; what is left out for the query stays out."""
        if text.run is None or image.run is None or self.files is None:
            return _Asked(why_not=image.why_not or text.why_not)
        given = derange(sorted(image.queries), families(self.collection, self.directory))
        if not given:
            return _Asked(why_not="no query has an image that is not related to all others")
        queries, corpus = self.files
        vectors = dict(pair for ids, block in read_vectors(queries) for pair in zip(ids, block, strict=True))
        path = self.bench.scratch / "necessity-shuffled.parquet"
        rows = (
            Embedding(id=query, vector=packed(vectors[given[query]]), tokens=0, tokens_kept=0)
            for query in sorted(given)
        )
        write_embeddings(rows, path)
        data = self.collection
        run = search_vectors(path, corpus, data.corpus_ids, data.left_out, self.bench.options.k)
        shuffled = replace(image, run=run, queries=frozenset(given))
        fused = self._fused(text, shuffled)
        fused.system += ", the image of another query"
        return fused

    def _caption(self, text: _Asked, chosen: System | None) -> _Asked:
        """The image's words after the query's text, through the text system."""
        if not self.collection.has_query_images:
            return _Asked(why_not=_NO_IMAGES)
        if text.run is None or chosen is None:
            return _Asked(why_not=text.why_not or "the text system compares texts with images")
        known = TASKS.get(self.collection.head.task)
        in_text = known.caption_in_query if known else ""
        found = words.captions(self.collection, self.directory, in_text)
        counts: dict[str, int] = {}
        for query, reason in found.why_not.items():
            if query in self.queries:
                counts[reason] = counts.get(reason, 0) + 1
        queries = frozenset(found.words) & text.queries
        if not queries:
            return _Asked(why_not="; ".join(sorted(counts)), not_for=counts)
        run = self._searched(chosen, {query: found.words[query] for query in sorted(queries)})
        return _Asked(run, queries, f"{text.system}, caption after text", not_for=counts)

    def _searched(self, system: System, added: Mapping[str, str]) -> Run:
        """A text system on some queries with words added; BM25 reads the index the bench built."""
        data, folder = self.collection, self.bench.scratch / "bm25"
        asked = tuple(
            replace(query, text=f"{query.text}\n{added[query.id]}".strip())
            for query in data.queries
            if query.id in added
        )
        if system == _BM25 and folder.is_dir():
            given = [(query.id, query.text, query.language) for query in asked]
            index, analyser = bm25.open_index(folder), Analyser()
            return dict(bm25.search_all(index, given, data.left_out, self.bench.options.k, analyser))
        scratch = self.bench.scratch / "necessity-caption"
        scratch.mkdir()
        other = replace(
            self.bench, collection=replace(data, queries=asked), scratch=scratch, made={}, asked={}
        )
        return other.run(system).run or {}


def _ndcg(asked: _Asked, collection: Collection) -> Values:
    """nDCG@10 of every measured query, NaN where the condition does not hold."""
    queries = measures.measured(collection)
    values = np.full(len(queries), np.nan)
    if asked.run is None:
        return values
    kept = np.array([query in asked.queries for query in queries], bool)
    chosen = replace(
        collection, qrels={query: collection.qrels[query] for query in queries if query in asked.queries}
    )
    depth = 10
    place = measures.names(depth).index(measures.PRIMARY)
    values[kept] = measures.evaluate(asked.run, chosen, depth)[:, place]
    return values


def _told(asked: _Asked, values: Values) -> dict[str, Any]:
    measured = int((~np.isnan(values)).sum())
    return {
        "system": asked.system,
        "queries": measured,
        "why_not": asked.why_not,
        "not_for": dict(sorted(asked.not_for.items())),
    }


def _solvable(
    bench: Bench, collection: Collection, queries: Sequence[str]
) -> tuple[NDArray[np.bool_] | None, str]:
    """Whether BM25 puts a relevant document first, whichever way documents of equal score are ordered."""
    made = bench.run(_BM25)
    if made.run is None:
        return None, made.why_not
    found = np.zeros(len(queries), bool)
    for place, query in enumerate(queries):
        ranking, judged = made.run.get(query, EMPTY), collection.qrels[query]
        equal = ranking.documents[ranking.scores == ranking.scores[0]] if len(ranking) else ranking.documents
        grades = [judged.get(collection.corpus_ids[item], 0) for item in equal.tolist()]
        found[place] = bool(grades) and min(grades) >= RELEVANT
    return found, ""


def _candidates(
    bench: Bench, collection: Collection, directory: Path, queries: Sequence[str], depth: int
) -> tuple[Lists, str]:
    """What shortcuts rank, and where it is from."""
    ran = sorted(name for name, made in bench.made.items() if made.run is not None)
    if not ran:
        return sampled(collection, queries), f"{SAMPLE} documents drawn by seed, and every positive"
    given = published(collection, directory)
    if given is not None:
        return from_published(collection, queries, given), TOP_RANKED.name
    runs = [made.run for name in ran if (made := bench.made[name]).run is not None]
    return candidates(
        collection, queries, runs, depth
    ), f"the first {depth} of {', '.join(ran)}, and every positive"


def _shortcuts(
    bench: Bench, collection: Collection, directory: Path, queries: Sequence[str], lists: Lists
) -> ShortcutValues:
    """Every shortcut over the candidates; patients are looked for only where the query tells of one."""
    texts = {query.id: query.text for query in collection.queries}
    asked = [texts[query] for query in queries]
    patients = patients_of(asked)
    numbers = query_numbers(collection, directory)
    wanted = np.zeros(len(collection.corpus_ids), bool)
    wanted[lists.documents[(patients.ages != UNKNOWN)[lists.owners]]] = True
    with bench.reporter.stage("shortcuts", len(collection.corpus_ids), "documents") as steps:
        features = read_features(collection, directory, wanted, steps.advance)
    return solve(
        lists, asked_of(asked, [numbers.get(query, UNKNOWN) for query in queries], patients), features
    )
