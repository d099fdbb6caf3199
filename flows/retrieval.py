"""Runs retrieval systems on an opened collection: BM25, encoders, fusion, image features, re-rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from curation.evaluation import bm25
from curation.evaluation.collection import Collection, check_images
from curation.evaluation.dense import search_vectors, write_embeddings
from curation.evaluation.pictures import FEATURES
from curation.evaluation.ranking import RRF_K, Ranking, Run, best, fuse, keys_of, ranking_of
from curation.evaluation.requests import document_requests, picture_embeddings, query_requests, score_requests
from curation.evaluation.results import Measured
from curation.evaluation.runs import file_stem
from curation.evaluation.systems import System
from curation.evaluation.terms import Analyser
from flows.adapters.encoder import Encoder, UseEncoder, answer
from flows.progress import Reporter, SilentReporter

DEPTH = 100


@dataclass(frozen=True, slots=True)
class Options:
    """What shapes an evaluation. Prompts are for st: and clip: models; None takes the model's own."""

    split: str = "test"
    k: int = DEPTH
    k1: float = bm25.K1
    b: float = bm25.B
    query_prompt: str | None = None
    document_prompt: str | None = None
    threads: int = 1


@dataclass
class Bench:
    """The systems of one command on one collection: what two of them share is made once."""

    collection: Collection
    options: Options
    cache: Path
    scratch: Path
    reporter: Reporter = field(default_factory=SilentReporter)
    made: dict[str, Measured] = field(default_factory=dict)

    def run(self, system: System) -> Measured:
        """Run one system; `run` is None with the reason when the collection lacks what it needs."""
        if system.name not in self.made:
            if system.reranker:
                found = self._rerank(system)
            else:
                make = {
                    "bm25": self._bm25,
                    "hybrid": self._hybrid,
                    "image": self._image,
                    "dense": self._embedded,
                    "st": self._embedded,
                    "clip": self._embedded,
                }[system.kind]
                found = make(system)
            self.made[system.name] = found
        return self.made[system.name]

    def _bm25(self, system: System) -> Measured:
        folder = self.scratch / "bm25"
        folder.mkdir()
        analyser = Analyser()
        parameters = bm25.Parameters(self.options.k1, self.options.b)
        total = len(self.collection.corpus_ids)
        with self.reporter.stage("bm25 index", total, "documents") as steps:

            def texts() -> Any:
                for document in self.collection.documents():
                    yield document.text, document.language
                    steps.advance()

            index = bm25.build(texts(), folder, analyser, parameters)
        run: dict[str, Ranking] = {}
        with self.reporter.stage("bm25 search", len(self.collection.queries), "queries") as steps:
            asked = ((query.id, query.text, query.language) for query in self.collection.queries)
            for query, ranking in bm25.search_all(
                index, asked, self.collection.left_out, self.options.k, analyser
            ):
                run[query] = ranking
                steps.advance()
        config = {
            "formula": "Lucene",
            "k1": self.options.k1,
            "b": self.options.b,
            "document_text": "title + text",
            "max_tokens": None,
            **analyser.describe(),
        }
        return Measured(system.name, system.kind, run, config)

    def _embedded(self, system: System) -> Measured:
        encoder = self._encoder(system)
        name = file_stem(system.name)
        files = {}
        images = encoder.reads_images
        if images:
            check_images(self.collection, decode=True)
        asked = {
            "queries": (query_requests, len(self.collection.queries)),
            "corpus": (document_requests, len(self.collection.corpus_ids)),
        }
        for side, (requests, total) in asked.items():
            path = self.scratch / f"{name}-{side}.parquet"
            with self.reporter.stage(f"{system.name} {side}", total, "texts") as steps:
                files[side] = answer(
                    requests(self.collection, images=images), encoder, path, self.cache, steps.advance
                )
        run = search_vectors(
            files["queries"].path,
            files["corpus"].path,
            self.collection.corpus_ids,
            self.collection.left_out,
            self.options.k,
        )
        config = {
            **encoder.describe(),
            "document_text": "title + text",
            "similarity": "cosine of vectors rounded to 2^-15",
            "embeddings": {side: found.describe() for side, found in files.items()},
        }
        return Measured(system.name, system.kind, run, config)

    def _encoder(self, system: System) -> Encoder:
        if system.kind == "dense":
            return UseEncoder(self.options.threads)
        from flows.adapters.models import ClipEncoder, TextEncoder

        kind = ClipEncoder if system.kind == "clip" else TextEncoder
        return kind(system.model, self.options.query_prompt, self.options.document_prompt)

    def _hybrid(self, system: System) -> Measured:
        parts = [self.run(System("bm25")), self.run(System("dense"))]
        run = fuse(
            [part.run or {} for part in parts],
            [query.id for query in self.collection.queries],
            self.options.k,
        )
        config = {
            "fusion": "reciprocal rank",
            "constant": RRF_K,
            "depth": self.options.k,
            "parts": {part.name: dict(part.config) for part in parts},
        }
        return Measured(system.name, system.kind, run, config)

    def _image(self, system: System) -> Measured:
        config = {"features": FEATURES, "similarity": "cosine of vectors rounded to 2^-15"}
        lacking = [
            side
            for side, has in (
                ("queries", self.collection.has_query_images),
                ("documents", self.collection.has_corpus_images),
            )
            if not has
        ]
        if lacking:
            why = f"the {' and '.join(lacking)} of this task have no images"
            return Measured(system.name, system.kind, None, config, why_not=why)
        files = {}
        for side, images in (
            ("queries", self.collection.query_images()),
            ("corpus", self.collection.corpus_images()),
        ):
            files[side] = self.scratch / f"image-{side}.parquet"
            write_embeddings(picture_embeddings(images), files[side])
        run = search_vectors(
            files["queries"],
            files["corpus"],
            self.collection.corpus_ids,
            self.collection.left_out,
            self.options.k,
        )
        note = "weak baseline: perceptual hash, colours and edges, nothing learnt; texts are not read"
        return Measured(system.name, system.kind, run, config, notes=(note,))

    def _rerank(self, system: System) -> Measured:
        from flows.adapters.models import Reranker

        base = self.run(system.base)
        if base.run is None:
            return Measured(system.name, system.kind, None, why_not=base.why_not)
        model = Reranker(system.reranker)
        places = {document: place for place, document in enumerate(self.collection.corpus_ids)}
        scored: dict[str, list[tuple[int, float]]] = {}
        pairs = cut = 0
        total = sum(len(ranking) for ranking in base.run.values())
        with self.reporter.stage(system.name, total, "pairs") as steps:
            for request, score, tokens, kept in model.scores(
                score_requests(self.collection, base.run), self.cache, steps.advance
            ):
                scored.setdefault(request.query_id, []).append((places[request.corpus_id], score))
                pairs += 1
                cut += kept < tokens
        config = {
            "base": {"name": base.name, **base.config},
            "depth": self.options.k,
            "reranker": model.describe(),
            "pairs": pairs,
            "share_of_pairs_cut": round(cut / pairs, 6) if pairs else 0.0,
        }
        return Measured(system.name, system.kind, _by_score(scored), config)


def _by_score(scored: Mapping[str, Sequence[tuple[int, float]]]) -> Run:
    run = {}
    for query, found in scored.items():
        documents = np.array([place for place, _ in found], np.int64)
        steps = np.rint(np.array([score for _, score in found]) * 1e6).astype(np.int64)
        run[query] = ranking_of(best(keys_of(steps, documents), len(found)), 1e-6)
    return run
