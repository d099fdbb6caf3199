"""Runs retrieval systems on an opened collection: BM25, encoders, fusion, image features, re-rankers.

Systems that use what a language model said are in expanded.py and reranked.py beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from curation.evaluation import bm25
from curation.evaluation.collection import Collection, check_images
from curation.evaluation.dense import search_vectors, texts_cut, write_embeddings
from curation.evaluation.pictures import FEATURES
from curation.evaluation.ranking import RRF_K, Ranking, Run, best, fuse, keys_of, ranking_of
from curation.evaluation.requests import document_requests, picture_embeddings, query_requests, score_requests
from curation.evaluation.results import Measured
from curation.evaluation.runs import file_stem
from curation.evaluation.systems import System
from curation.evaluation.terms import Analyser
from flows.adapters.encoder import Encoder, UseEncoder, answer, portions
from flows.engine.execution import new_pool
from flows.engine.progress import Reporter, SilentReporter
from flows.evaluate.expanded import expanded_run, expansions_lacking
from flows.evaluate.reranked import Asking, reranked

DEPTH = 100
PARALLEL_FROM, PORTION = 4_000, 500
"""From how many queries BM25 searches in several processes, and how many queries go to one at a time."""


@dataclass(frozen=True, slots=True)
class Options:
    """What shapes an evaluation. Prompts are for st: and clip: models; None takes the model's own.

    `asking` is how a language model that re-ranks is reached and paid; None: none is.
    """

    split: str = "test"
    k: int = DEPTH
    k1: float = bm25.K1
    b: float = bm25.B
    query_prompt: str | None = None
    document_prompt: str | None = None
    threads: int = 1
    asking: Asking | None = None


@dataclass
class Bench:
    """The systems of one command on one collection: what two of them share is made once.

    `made` and `asked` have what was run by name; a name does not say in which folder a model lies. `index` is
    the folder of BM25's index, by default in the scratch folder: benches on one corpus share it.
    """

    collection: Collection
    options: Options
    cache: Path
    scratch: Path
    reporter: Reporter = field(default_factory=SilentReporter)
    made: dict[str, Measured] = field(default_factory=dict)
    asked: dict[str, System] = field(default_factory=dict)
    index: Path | None = None

    def check_installed(self, systems: Iterable[System]) -> None:
        """What those of the systems that can run need is installed: told before hours are spent on others.

        Raises:
            UsageError: it is not; names the extra. Or a file of expansions cannot be used.
        """
        for system in systems:
            if not self._lacking(system) and system.needs_encoder:
                from flows.adapters.models import library

                library()

    def run(self, system: System) -> Measured:
        """Run one system; `run` is None with the reason when the collection lacks what it needs."""
        if system.name not in self.made:
            self.asked[system.name] = system
            lacking = self._lacking(system)
            made = (
                Measured(system.name, system.kind, None, why_not=lacking) if lacking else self._make(system)
            )
            self.made[system.name] = replace(made, parts=system.parts)
        return self.made[system.name]

    def _make(self, system: System) -> Measured:
        if system.language_model:
            return reranked(self, system)
        if system.reranker:
            return self._rerank(system)
        if system.expansion:
            return expanded_run(self, system)
        make: dict[str, Callable[[System], Measured]] = {
            "bm25": self._bm25,
            "hybrid": self._hybrid,
            "image": self._image,
        }
        return make.get(system.kind, self._embedded)(system)

    def _lacking(self, system: System) -> str:
        """Why a system cannot run here, '' when it can; clip: takes whatever there is."""
        data = self.collection
        if not data.queries or not data.corpus_ids:
            return f"there are no {'documents' if data.queries else 'queries'}"
        if system.expansion and (lacking := expansions_lacking(self, system)):
            return lacking
        reads_texts = system.kind not in ("image", "clip") or bool(system.reranker)
        images = "have no images" if system.kind == "image" else ""
        texts = "have no texts" if reads_texts else ""
        for what, has in (
            (images and f"documents of this task {images}", data.has_corpus_images),
            (images and f"queries of this task {images}", data.has_query_images),
            (texts and f"documents of this task {texts}", data.has_corpus_texts),
            (texts and f"queries of this task {texts}", data.has_query_texts),
        ):
            if what and not has:
                return f"the {what}"
        return ""

    def _bm25(self, system: System) -> Measured:
        folder = self.index or self.scratch / "bm25"
        analyser = Analyser()
        index = bm25.open_index(folder) if folder.is_dir() else self._indexed(folder, analyser)
        run = self._searched(index, folder, analyser)
        config = {
            "formula": "Lucene",
            "k1": self.options.k1,
            "b": self.options.b,
            "document_text": "title + text",
            "max_tokens": None,
            **analyser.describe(),
        }
        return Measured(system.name, system.kind, run, config, cut=frozenset())

    def _indexed(self, folder: Path, analyser: Analyser) -> bm25.Bm25Index:
        folder.mkdir()
        total = len(self.collection.corpus_ids)
        with self.reporter.stage("bm25 index", total, "documents") as steps:

            def texts() -> Any:
                for document in self.collection.documents():
                    yield document.text, document.language
                    steps.advance()

            parameters = bm25.Parameters(self.options.k1, self.options.b)
            return bm25.build(texts(), folder, analyser, parameters)

    def _searched(self, index: bm25.Bm25Index, folder: Path, analyser: Analyser) -> Run:
        """Rankings of every query; many queries are shared out to processes that map the same index."""
        data, k = self.collection, self.options.k
        asked = [(query.id, query.text, query.language) for query in data.queries]
        run: dict[str, Ranking] = {}
        with self.reporter.stage("bm25 search", len(asked), "queries") as steps:
            if len(asked) < PARALLEL_FROM or self.options.threads == 1:
                for query, ranking in bm25.search_all(index, asked, data.left_out, k, analyser):
                    run[query] = ranking
                    steps.advance()
                return run
            with new_pool(self.options.threads) as pool:
                waiting = []
                for part in portions(asked, PORTION):
                    out = {query: data.left_out[query] for query, _, _ in part if query in data.left_out}
                    waiting.append(pool.submit(_search_part, folder, part, out, k))
                for done in waiting:
                    run.update(done.result())
                    steps.advance(len(done.result()))
        return run

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
            self.options.threads,
        )
        config = {
            **encoder.describe(),
            "document_text": "title + text",
            "similarity": "cosine of vectors rounded to 2^-15",
            "embeddings": {side: found.describe() for side, found in files.items()},
        }
        return Measured(system.name, system.kind, run, config, cut=texts_cut(files["corpus"].path))

    def _encoder(self, system: System) -> Encoder:
        if system.kind == "dense":
            return UseEncoder()
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
        cut = frozenset[str]().union(*(part.cut or () for part in parts))
        return Measured(system.name, system.kind, run, config, cut=cut)

    def _image(self, system: System) -> Measured:
        config = {"features": FEATURES, "similarity": "cosine of vectors rounded to 2^-15"}
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
            self.options.threads,
        )
        note = "weak baseline: perceptual hash, colours and edges, nothing learnt; texts are not read"
        return Measured(system.name, system.kind, run, config, notes=(note,))

    def _rerank(self, system: System) -> Measured:
        from flows.adapters.models import Reranker

        base = self.run(system.base)
        assert base.run is not None  # what the base lacks, the re-ranked system lacks
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
        return Measured(system.name, system.kind, _by_score(scored), config, cut=base.cut)


_OPEN: dict[Path, tuple[bm25.Bm25Index, Analyser]] = {}


def _search_part(
    folder: Path, asked: list[tuple[str, str, str]], left_out: dict[str, Any], k: int
) -> dict[str, Ranking]:
    """Some queries, in a process of the pool; the index is opened once per process."""
    if folder not in _OPEN:
        _OPEN.clear()
        _OPEN[folder] = (bm25.open_index(folder), Analyser())
    index, analyser = _OPEN[folder]
    return dict(bm25.search_all(index, asked, left_out, k, analyser))


def _by_score(scored: Mapping[str, Sequence[tuple[int, float]]]) -> Run:
    run = {}
    for query, found in scored.items():
        documents = np.array([place for place, _ in found], np.int64)
        steps = np.rint(np.array([score for _, score in found]) * 1e6).astype(np.int64)
        run[query] = ranking_of(best(keys_of(steps, documents), len(found)), 1e-6)
    return run
