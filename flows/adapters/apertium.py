"""Apertium, where it is installed, as what answers prompts for translations: no server, no cost.

`apertium -l` lists the pairs it has; a language without one is told and stays `not_run`. Texts go in and come
out a line each (`-f line`), so that none runs into the next; unknown words are left as they are (`-u`).
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from curation.prompts.material import read_block
from flows.adapters.llm_runner import Run, as_stored, key_of
from schemas.errors import FetchError, UsageError
from schemas.hashing import canonical_json
from schemas.prompt import Prompt

NAME = "apertium"
"""As `--model` calls it."""
KIND, BACK = "translation", "back_translation"
_CODES: Mapping[str, str] = {
    "de": "deu", "es": "spa", "fr": "fra", "it": "ita", "ja": "jpn", "pt": "por", "ru": "rus", "zh": "zho",
}  # fmt: skip
_BATCH = 200
"""Texts handed over at once: what a kill can lose."""
_SECONDS = 600


class Apertium:
    """The program and the pairs from English that it has.

    Raises:
        UsageError: it is not installed.
        FetchError: it does not answer as it should.
    """

    def __init__(self) -> None:
        self._program = shutil.which(NAME) or ""
        if not self._program:
            raise UsageError(
                f"{NAME} is not installed",
                hint="install the package apertium and a pair such as apertium-eng-spa, or name a model",
            )
        self.pairs = frozenset(self._run(["-l"]).split())
        self._version = (self._run(["-V"]).strip().splitlines() or [""])[0]

    def pair_of(self, language: str, kind: str = KIND) -> str:
        """The pair from English into a language, or back from it, '' where it has none."""
        ends = (("eng", _CODES.get(language, language)), ("en", language))
        ours = ["-".join(pair if kind == KIND else pair[::-1]) for pair in ends]
        return next((pair for pair in ours if pair in self.pairs), "")

    def translate(self, texts: Sequence[str], pair: str) -> list[str]:
        """Texts by one pair, in order.

        Raises:
            FetchError: the program fails, or gives another number of texts.
        """
        given = "".join(f"{' '.join(text.split())}\n" for text in texts)
        found = self._run(["-u", "-f", "line", pair], given).removesuffix("\n").split("\n")
        if len(found) != len(texts):
            raise FetchError(
                f"{NAME} {pair} gave {len(found)} texts for {len(texts)}",
                hint=f"try: {NAME} -u -f line {pair}",
            )
        return [" ".join(text.split()) for text in found]

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
                    f"{NAME} translates; it cannot answer {prompt.kind}", hint=f"medqrels answer {KIND} …"
                )
            by_language.setdefault((kind, prompt.form), []).append(prompt)
        for (kind, language), those in sorted(by_language.items()):
            pair = self.pair_of(language, kind)
            if not pair:
                run.unasked += len(those)
                run.outcomes[f"no pair for {language}"] += len(those)
                continue
            for start in range(0, len(those), _BATCH):
                yield self._batch(those[start : start + _BATCH], pair, run)

    def _batch(self, prompts: Sequence[Prompt], pair: str, run: Run) -> dict[bytes, bytes]:
        said = self.translate([read_block(prompt, "query") for prompt in prompts], pair)
        run.calls += len(prompts)
        run.outcomes += Counter({"answered": sum(map(bool, said)), "failed": said.count("")})
        run.failed += said.count("")
        served = f"{self._version or NAME} {pair}"
        return {
            key_of(prompt): as_stored(
                "", "answered", canonical_json({"text": text}), "plain", served, (None, None), "engine"
            )
            for prompt, text in zip(prompts, said, strict=True)
            if text
        }

    def _run(self, arguments: Sequence[str], given: str = "") -> str:
        try:
            done = subprocess.run(
                [self._program, *arguments],
                input=given.encode(),
                capture_output=True,
                timeout=_SECONDS,
                check=True,
            )
            return done.stdout.decode("utf-8")
        except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
            raise FetchError(
                f"{NAME} {' '.join(arguments)} failed: {error}", hint=f"try: {NAME} -l"
            ) from error
