"""Runs systems on text alone, image alone, both, and another query's image, and tries shortcuts, per query.

A condition that cannot run is null with its reason; nothing is put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from curation.derived.diagnostics import captions as words
from curation.derived.diagnostics.candidates import lists_of
from curation.derived.diagnostics.condition import Condition, fused, holding, solvable, write_exchanged
from curation.derived.diagnostics.conditions import CONDITIONS, LEVEL, TOLERANCE
from curation.derived.diagnostics.derange import SEED, derange, families
from curation.derived.diagnostics.scores import shortcuts_of
from curation.derived.diagnostics.table import Diagnosed, write_diagnostics, write_notes
from curation.evaluation import bm25, measures, statistics
from curation.evaluation.collection import Collection
from curation.evaluation.dense import EmbedRequest, search_vectors, write_embeddings
from curation.evaluation.ranking import RRF_K, Run
from curation.evaluation.requests import document_requests, picture_embeddings
from curation.evaluation.results import Measured
from curation.evaluation.runs import file_stem
from curation.evaluation.systems import System, parse_systems
from curation.evaluation.terms import Analyser
from curation.tasks.registry import TASKS
from flows.adapters.encoder import Encoder, answer
from flows.evaluate.retrieval import Bench

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
        values = {name: asked[name].ndcg(collection) for name in CONDITIONS}
        steps.advance(len(CONDITIONS))
    by_words = bench.run(_BM25)
    solved = None if by_words.run is None else solvable(by_words.run, collection, queries)
    ran = {name: made.run for name, made in sorted(bench.made.items()) if made.run is not None}
    lists, source = lists_of(collection, directory, queries, ran, options.depth)
    with bench.reporter.stage("shortcuts", len(collection.corpus_ids), "documents") as steps:
        tried = shortcuts_of(collection, directory, queries, lists, steps.advance)
    found = Diagnosed(queries, values, solved, lists.sizes, tried)
    rows = write_diagnostics(collection, found, directory)
    notes = {
        "conditions": {name: asked[name].told(values[name]) for name in CONDITIONS},
        "bm25_solvable": {"why_not": by_words.why_not},
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

    def all(self) -> dict[str, Condition]:
        """Every condition."""
        image = self._image()
        other = self._exchanged(image)
        if unread := self._unread(image, other):
            image = other = Condition(why_not=unread)
        text, chosen = self._text()
        both = self._fused(text, image)
        return {
            "text_only": text,
            "image_only": image,
            "text_and_image": both,
            "shuffled_image": self._shuffled(text, other),
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

    def _text(self) -> tuple[Condition, System | None]:
        """The best of the text systems by mean nDCG@10; where none can run, a clip: model on the text."""
        best: tuple[float, Condition, System] | None = None
        lacking = ""
        for system in parse_systems(self.options.text):
            made = self.bench.run(system)
            if made.run is None:
                lacking = lacking or made.why_not
                continue
            asked = self._for(made.run, self.written, made.name, "the query has no text")
            mean = float(np.nanmean(asked.ndcg(self.collection))) if asked.queries else 0.0
            if best is None or mean > best[0]:
                best = (mean, asked, system)
        if best is not None:
            return best[1], best[2]
        if self.image_system is not None and self.image_system.kind == "clip" and self.written:
            requests = self._requests(with_text=True)
            run = self._clip(requests, "texts")[0]
            name = f"{self.image_system.name}, text alone"
            return self._for(run, self.written, name, "the query has no text"), None
        return Condition(why_not=lacking or _NO_TEXT), None

    def _image(self) -> Condition:
        """The ranking by images alone; keeps the vectors, which are given to other queries later."""
        if not self.collection.has_query_images:
            return Condition(why_not=_NO_IMAGES)
        system = self.image_system
        if system is None:
            return Condition(why_not=_NO_SYSTEM)
        if system.kind == "image":
            made = self.bench.run(system)
            if made.run is None:
                return Condition(why_not=made.why_not)
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
            for query, images in self.collection.query_images():
                yield EmbedRequest(id=query, role="query", text="", images=images)
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
        run = search_vectors(
            queries, corpus, data.corpus_ids, data.left_out, bench.options.k, bench.options.threads
        )
        return run, (queries, corpus)

    def _for(self, run: Run, queries: frozenset[str], system: str, why_not: str) -> Condition:
        return holding(run, self.queries, queries, system, why_not)

    def _fused(self, text: Condition, image: Condition) -> Condition:
        return fused(text, image, self.queries, self.bench.options.k)

    def _exchanged(self, image: Condition) -> Condition:
        """The ranking by an unrelated image alone; what is left out for the query stays out."""
        if image.run is None or self.files is None:
            return Condition(why_not=image.why_not)
        given = derange(sorted(image.queries), families(self.collection, self.directory))
        if not given:
            return Condition(why_not="no query has an image that is not related to all others")
        queries, corpus = self.files
        path = self.bench.scratch / "necessity-shuffled.parquet"
        write_exchanged(queries, given, path)
        data = self.collection
        options = self.bench.options
        run = search_vectors(path, corpus, data.corpus_ids, data.left_out, options.k, options.threads)
        return replace(image, run=run, queries=frozenset(given))

    def _unread(self, image: Condition, other: Condition) -> str:
        """Why a clip: model is no witness: with random weights any image ranks as well as the query's own."""
        if self.image_system is None or self.image_system.kind != "clip" or image.run is None:
            return ""
        name, data = self.image_system.name, self.collection
        if other.run is None:
            return f"whether {name} reads images cannot be told: {other.why_not}"
        of = {query.id: query.group for query in data.queries}
        groups = statistics.codes([of[query] for query in measures.measured(data)])
        values = [(which, one.ndcg(data)[:, None]) for which, one in (("own", image), ("other", other))]
        [found] = statistics.compare(values, [measures.PRIMARY], groups)
        if found.difference > 0 and found.p <= LEVEL:
            return ""
        return (
            f"{name} does not find more by a query's own image than by another's (difference "
            f"{found.difference:.3f}, p {found.p:.3f}, at most {LEVEL} needed)"
        )

    def _shuffled(self, text: Condition, other: Condition) -> Condition:
        """As both, each query with an unrelated image."""
        if text.run is None or other.run is None:
            return Condition(why_not=other.why_not or text.why_not)
        both = self._fused(text, other)
        both.system += ", the image of another query"
        return both

    def _caption(self, text: Condition, chosen: System | None) -> Condition:
        """The image's words after the query's text, through the text system."""
        if not self.collection.has_query_images:
            return Condition(why_not=_NO_IMAGES)
        if text.run is None or chosen is None:
            return Condition(why_not=text.why_not or "the text system compares texts with images")
        known = TASKS.get(self.collection.head.task)
        in_text = known.caption_in_query if known else ""
        found = words.captions(self.collection, self.directory, in_text)
        counts: dict[str, int] = {}
        for query, reason in found.why_not.items():
            if query in self.queries:
                counts[reason] = counts.get(reason, 0) + 1
        queries = frozenset(found.words) & text.queries
        if not queries:
            return Condition(why_not="; ".join(sorted(counts)), not_for=counts)
        run = self._searched(chosen, {query: found.words[query] for query in sorted(queries)})
        return Condition(run, queries, f"{text.system}, caption after text", not_for=counts)

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
