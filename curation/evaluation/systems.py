"""Names of systems: bm25, dense, hybrid, image, st:MODEL, clip:MODEL, with what is added to one of these.

`+hyde:FILE` and `+query2doc:FILE` search with what a language model wrote of each query, `+rerank:MODEL` puts
the ranking in another order: by a cross-encoder, or, as `+rerank:llm:MODEL`, by a language model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from curation.prompts.registry import KINDS
from schemas.errors import UsageError

Kind = Literal["bm25", "dense", "hybrid", "image", "st", "clip"]
_PLAIN: tuple[Kind, ...] = ("bm25", "dense", "hybrid", "image")
_WITH_MODEL: tuple[Kind, ...] = ("st", "clip")
EXPANDED: tuple[Kind, ...] = ("bm25", "dense", "st")
"""Systems that can search with an expansion: their query is one text."""
SEARCHED = tuple(name for name, kind in KINDS.items() if kind.search)
"""Kinds of prompt whose texts are searched with."""
OWN = "release"
"""In the place of a file: the expansions of the release itself."""
LLM = "llm:"
GRAMMAR = (
    "bm25, dense, hybrid, image, st:MODEL, clip:MODEL; bm25, dense or st:MODEL with "
    f"{' or '.join(f'+{name}:FILE' for name in SEARCHED)} (FILE: {OWN} for the release's own expansions); "
    f"any of these with +rerank:MODEL (a cross-encoder) or +rerank:{LLM}MODEL (a language model)"
)
_PARTS = re.compile(rf"\+({'|'.join(SEARCHED)}|rerank):")


@dataclass(frozen=True, slots=True)
class System:
    """One system. `model` and `reranker` are names or local folders, '' when it has none.

    `expansion` is a kind of prompt, and `file` holds the texts of this kind that it searches with, a Parquet
    file, a folder of them, or OWN.
    """

    kind: Kind
    model: str = ""
    reranker: str = ""
    expansion: str = ""
    file: str = ""

    @property
    def base(self) -> System:
        """The system whose ranking is re-ranked, or the system itself."""
        return replace(self, reranker="")

    @property
    def plain(self) -> System:
        """The system that searches with the queries as they are."""
        return System(self.kind, self.model)

    @property
    def language_model(self) -> str:
        """The language model that re-ranks, '' for none."""
        return self.reranker.removeprefix(LLM) if self.reranker.startswith(LLM) else ""

    @property
    def needs_encoder(self) -> bool:
        """Whether it needs sentence-transformers."""
        return bool(self.model or (self.reranker and not self.language_model))

    @property
    def name(self) -> str:
        """The name it is shown by; of files and folders only the last part, as paths tell about a machine."""
        name = f"{self.kind}:{_shown(self.model)}" if self.model else self.kind
        if self.expansion:
            name += f"+{self.expansion}:{self.file if self.file == OWN else Path(self.file).name}"
        return f"{name}+rerank:{_shown(self.reranker)}" if self.reranker else name

    @property
    def parts(self) -> frozenset[str]:
        """Names that would mark it as having shaped a benchmark: itself and what it is made of."""
        parts = {self.name, self.base.name, self.plain.name}
        parts.update(["bm25", "dense"] if self.kind == "hybrid" else [])
        return frozenset(parts | ({f"rerank:{_shown(self.reranker)}"} if self.reranker else set()))


def parse_system(text: str) -> System:
    """Read a system's name.

    Raises:
        UsageError: it is none.
    """
    base, *added = _PARTS.split(text)
    found = _plain(base, text)
    for name, value in zip(added[::2], added[1::2], strict=True):
        hint = f"systems are {GRAMMAR}"
        if not value or value == LLM:
            what = "model" if name == "rerank" else "file"
            raise UsageError(f"no {what} after +{name}: in {text!r}", hint=hint)
        if found.reranker or (found.expansion and name != "rerank"):
            raise UsageError(
                f"{text!r} adds more than one expansion and one re-ranker, in this order", hint=hint
            )
        if name == "rerank":
            found = replace(found, reranker=value)
        elif found.kind not in EXPANDED:
            raise UsageError(f"{found.kind} cannot search with an expansion: {text!r}", hint=hint)
        else:
            found = replace(found, expansion=name, file=value)
    return found


def _plain(base: str, text: str) -> System:
    kind, colon, model = base.partition(":")
    for plain in _PLAIN:
        if kind == plain and not colon:
            return System(plain)
    for known in _WITH_MODEL:
        if kind == known and model:
            return System(known, model)
    raise UsageError(f"unknown system {text!r}", hint=f"systems are {GRAMMAR}")


def parse_systems(texts: Iterable[str]) -> list[System]:
    """Read several names, each once, in the order given.

    Raises:
        UsageError: one is unknown, or two would have the same name.
    """
    found: dict[str, System] = {}
    for text in texts:
        system = parse_system(text)
        if found.setdefault(system.name, system) != system:
            raise UsageError(
                f"two systems would be called {system.name!r}", hint="rename a model's folder or a file"
            )
    return list(found.values())


def _shown(model: str) -> str:
    return Path(model).name if Path(model).is_dir() else model
