"""Engines of translation on this machine, as what answers prompts for translations: no server, no cost.

An engine reads the text alone, not what the prompt asks or which names it gives. A language that it has no
pair for is told and stays `not_run`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from curation.prompts.material import read_block
from flows.adapters.llm_runner import Run, as_stored, key_of
from schemas.errors import UsageError
from schemas.hashing import canonical_json
from schemas.prompt import Prompt

KIND: Final = "translation"
BACK: Final = "back_translation"


class Engine(ABC):
    """What translates from English and into it."""

    name: ClassVar[str]
    batch: ClassVar[int]
    """Texts handed over at once: what a kill can lose."""

    @abstractmethod
    def pair_of(self, language: str, kind: str = KIND) -> str:
        """The pair from English into a language, or back from it, '' where it has none."""

    @abstractmethod
    def translate(self, texts: Sequence[str], pair: str) -> list[str]:
        """Texts by one pair, in order; '' for one that it fails at."""

    @abstractmethod
    def served_as(self, pair: str) -> str:
        """The engine with its version, and the pair."""

    def answers(self, prompts: Sequence[Prompt], run: Run) -> Iterator[dict[bytes, bytes]]:
        """What it answers to prompts for translations, as the store holds it, a batch at a time.

        Args:
            prompts: of kind `translation` or `back_translation`; their form is the language.
            run: counts what is asked, what fails, and languages without a pair.

        Raises:
            UsageError: a prompt asks for something else.
        """
        by_language: dict[tuple[str, str], list[Prompt]] = {}
        for prompt in prompts:
            kind = prompt.kind.partition("@")[0]
            if kind not in (KIND, BACK):
                raise UsageError(
                    f"{self.name} translates; it cannot answer {prompt.kind}",
                    hint=f"medqrels answer {KIND} …",
                )
            by_language.setdefault((kind, prompt.form), []).append(prompt)
        for (kind, language), those in sorted(by_language.items()):
            pair = self.pair_of(language, kind)
            if not pair:
                run.unasked += len(those)
                run.outcomes[f"no pair for {language}"] += len(those)
                continue
            for start in range(0, len(those), self.batch):
                yield self._batch(those[start : start + self.batch], pair, run)

    def _batch(self, prompts: Sequence[Prompt], pair: str, run: Run) -> dict[bytes, bytes]:
        said = self.translate([read_block(prompt, "query") for prompt in prompts], pair)
        run.calls += len(prompts)
        run.outcomes += Counter({"answered": sum(map(bool, said)), "failed": said.count("")})
        run.failed += said.count("")
        served = self.served_as(pair)
        return {
            key_of(prompt): as_stored(
                "", "answered", canonical_json({"text": text}), "plain", served, (None, None), "engine"
            )
            for prompt, text in zip(prompts, said, strict=True)
            if text
        }
