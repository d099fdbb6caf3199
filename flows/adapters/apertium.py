"""Apertium, where it is installed, as what answers prompts for translations: no server, no cost.

`apertium -l` lists the pairs it has; a language without one is told and stays `not_run`. Texts go in and come
out a line each (`-f line`), so that none runs into the next; unknown words are left as they are (`-u`).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from flows.adapters.engines import KIND, Engine
from schemas.errors import FetchError, UsageError

NAME = "apertium"
"""As `--model` calls it."""
_CODES: Mapping[str, str] = {
    "de": "deu", "es": "spa", "fr": "fra", "it": "ita", "ja": "jpn", "pt": "por", "ru": "rus", "zh": "zho",
}  # fmt: skip
_SECONDS = 600


class Apertium(Engine):
    """The program and the pairs from English that it has.

    Raises:
        UsageError: it is not installed.
        FetchError: it does not answer as it should.
    """

    name = NAME
    batch = 200

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

    def served_as(self, pair: str) -> str:
        """Version of the program, and the pair."""
        return f"{self._version or NAME} {pair}"

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
