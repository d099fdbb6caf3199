"""Language of texts whose language is known: rule, langdetect, both (what medqrels does), and py3langid.

Thresholds were set on the dev half; figures are of the other. An answer is right, wrong, or none ('und').

    python -m benchmarks.languages
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from annotation.agreement.precision import wilson
from benchmarks.language_texts import LENGTHS, Known, known_texts
from benchmarks.measure import RESULTS, ROOT, cpu_seconds, save
from curation.extract import language
from curation.extract.language import UNKNOWN, by_letters, guess_language

EACH = 300
OUTCOMES = ("right", "none", "wrong")
Guess = Callable[[str], str]


def rule(text: str) -> str:
    """The rule of scripts and function words alone, with the bounds it had when nothing stood behind it."""
    with patch.multiple(language, _MIN_HITS=5, _LEAD=1.2):
        return language._by_script(text) or language._by_function_words(text) or UNKNOWN


def peer(text: str) -> str:
    """py3langid, which always answers."""
    import py3langid

    return str(py3langid.classify(text)[0])


CONTESTANTS: dict[str, Guess] = {
    "rule": rule,
    "langdetect": by_letters,
    "medqrels": lambda text: guess_language([text]),
    "py3langid": peer,
}


def outcome(answer: str, truth: str) -> str:
    """One of OUTCOMES."""
    return "none" if answer == UNKNOWN else "right" if answer == truth else "wrong"


def shares(outcomes: Sequence[str]) -> dict[str, Any]:
    """Count, share of each outcome, and Wilson's 95 % interval of those that are right and wrong."""
    total, counts = len(outcomes), Counter(outcomes)
    found: dict[str, Any] = {"texts": total, **{name: round(counts[name] / total, 4) for name in OUTCOMES}}
    for name in ("right", "wrong"):
        found[f"{name}_interval"] = [round(bound, 4) for bound in wilson(counts[name], total)]
    return found


def measure(texts: Sequence[Known], guess: Guess) -> dict[str, Any]:
    """Outcomes by length and, for the longer ones, by language and source; texts per CPU second."""
    guess(texts[0].text)  # models are loaded once
    answers: list[str] = []
    seconds = cpu_seconds(lambda: answers.extend(guess(text.text) for text in texts))
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for text, answer in zip(texts, answers, strict=True):
        said = outcome(answer, text.language)
        groups["by_length"][text.length].append(said)
        if text.length in ("whole", "200"):
            groups["by_language"][text.language].append(said)
            groups["by_source"][text.source].append(said)
    return {
        "texts_per_cpu_second": round(len(texts) / seconds),
        **{name: {key: shares(said) for key, said in rows.items()} for name, rows in groups.items()},
    }


def digest(texts: Sequence[Known], order: int) -> str:
    """Hash of langdetect's answers to texts asked forwards (1) or backwards (-1)."""
    answers = [by_letters(text.text) for text in texts[::order]][::order]
    return hashlib.sha256(" ".join(answers).encode()).hexdigest()


def digests(texts: Sequence[Known], most: int) -> list[str]:
    """The hash twice in this process and once in each of two others; all equal if nothing random decides."""
    found = [digest(texts, 1), digest(texts, -1)]
    code = (
        "import sys; from benchmarks import languages; "
        "print(languages.digest(languages.known_texts(int(sys.argv[1])), -1))"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(most)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.strip())
    return found


def section() -> list[str]:
    """The part of the page."""
    result = json.loads((RESULTS / "languages.json").read_text("utf-8"))
    lines = [
        "## Language of a text",
        "",
        f"{result['texts']:,} texts of known language (SciELO articles, TICO-19, XL-BEL, FrenchMedMCQA, HPO, "
        "textbooks), whole or cut to so many characters; bounds were set on other texts. Right / wrong in %, "
        "the rest is 'und'; texts per CPU second. `python -m benchmarks.languages`",
        "",
        f"| what | {' | '.join(LENGTHS)} | texts/s |",
        f"|---|{'---|' * (len(LENGTHS) + 1)}",
    ]
    for name, found in result["contestants"].items():
        rows = [found["by_length"][length] for length in LENGTHS]
        cells = [f"{100 * row['right']:.1f} / {100 * row['wrong']:.1f}" for row in rows]
        shown = f"**{name}** (both)" if name == "medqrels" else name
        lines.append(f"| {shown} | {' | '.join(cells)} | {found['texts_per_cpu_second']:,} |")
    same = "the same" if result["deterministic"] else "not the same"
    return [*lines, "", f"langdetect's answers in three processes and in another order: {same}.", ""]


def main() -> int:
    """Measure and save."""
    every = known_texts(EACH)
    texts = [text for text in every if text.half == "test"]
    found = {name: measure(texts, guess) for name, guess in CONTESTANTS.items()}
    same = len(set(digests(known_texts(20), 20))) == 1
    save("languages", {"texts": len(texts), "deterministic": same, "contestants": found})
    for name, result in found.items():
        print(name, result["texts_per_cpu_second"], json.dumps(result["by_length"]))
    print("deterministic:", same)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
