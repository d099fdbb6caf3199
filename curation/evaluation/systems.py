"""Names of systems: bm25, dense, hybrid, image, st:MODEL, clip:MODEL, and BASE+rerank:MODEL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from schemas.errors import UsageError

Kind = Literal["bm25", "dense", "hybrid", "image", "st", "clip"]
_PLAIN: tuple[Kind, ...] = ("bm25", "dense", "hybrid", "image")
_WITH_MODEL: tuple[Kind, ...] = ("st", "clip")
GRAMMAR = "bm25, dense, hybrid, image, st:MODEL, clip:MODEL, or one of these +rerank:MODEL"


@dataclass(frozen=True, slots=True)
class System:
    """One system. `model` and `reranker` are names or local folders, '' when it has none."""

    kind: Kind
    model: str = ""
    reranker: str = ""

    @property
    def base(self) -> System:
        """The system whose ranking is re-ranked, or the system itself."""
        return System(self.kind, self.model)

    @property
    def name(self) -> str:
        """The name it is shown by; of a local folder only the last part, as paths tell about a machine."""
        base = f"{self.kind}:{_shown(self.model)}" if self.model else self.kind
        return f"{base}+rerank:{_shown(self.reranker)}" if self.reranker else base

    @property
    def parts(self) -> frozenset[str]:
        """Names that would mark it as having shaped a benchmark: itself and what it is made of."""
        base = self.base.name
        parts = {self.name, base, *(["bm25", "dense"] if self.kind == "hybrid" else [])}
        return frozenset(parts | ({f"rerank:{_shown(self.reranker)}"} if self.reranker else set()))


def parse_system(text: str) -> System:
    """Read a system's name.

    Raises:
        UsageError: it is none.
    """
    base, _, reranker = text.partition("+rerank:")
    kind, colon, model = base.partition(":")
    if "+rerank:" in text and not reranker:
        raise UsageError(f"no model after +rerank: in {text!r}", hint=f"systems are {GRAMMAR}")
    for plain in _PLAIN:
        if kind == plain and not colon:
            return System(plain, "", reranker)
    for known in _WITH_MODEL:
        if kind == known and model:
            return System(known, model, reranker)
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
            raise UsageError(f"two systems would be called {system.name!r}", hint="rename a model's folder")
    return list(found.values())


def _shown(model: str) -> str:
    return Path(model).name if Path(model).is_dir() else model
