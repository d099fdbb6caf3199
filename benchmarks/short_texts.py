"""Short questions inside long texts: how many are found, and from how many words on a match means a copy.

Real exam questions (FrenchMedMCQA) are planted whole into paragraphs of real articles. What a match of n
words is worth is seen where nothing was planted: real sentences of one article that stand in another article
too, and exam questions that stand inside other questions of the exam.

    python -m benchmarks.short_texts
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from benchmarks.measure import SHARED, save
from curation.similarity.text.engine import SPAN, Texts, copied_spans, near_pairs
from curation.similarity.text.tokens import tokens_with_offsets
from curation.similarity.text.whole import LEAST, whole_texts

NEGATIVES = 1_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def paragraphs(folder: Path) -> list[tuple[str, str]]:
    """(article, paragraph) of every article, in order."""
    found = []
    for path in sorted(folder.glob("*/*.xml")):
        name = path.parent.name.split(".")[0]
        for item in etree.parse(str(path)).getroot().iter("p"):
            text = " ".join("".join(map(str, item.itertext())).split())
            if text:
                found.append((name, text))
    return found


def questions(folder: Path) -> list[str]:
    """Every exam question, each once."""
    rows = [
        row for name in ("train", "dev", "test") for row in json.loads((folder / f"{name}.json").read_text())
    ]
    return sorted({row["question"] for row in rows})


def words(text: str) -> int:
    """Words as the audit counts them."""
    return len(tokens_with_offsets(text))


def held(name: str, texts: Sequence[str]) -> Texts:
    """Texts in memory under their place."""
    return Texts.of(name, [f"{place:07d}" for place in range(len(texts))], texts)


def planted(asked: Sequence[str], long: Sequence[tuple[str, str]], seed: int) -> dict[str, Any]:
    """One question in each of as many paragraphs: found by each comparison, and pairs nobody planted."""
    draw = random.Random(seed)
    chosen = draw.sample(asked, min(1_000, len(asked)))
    hosts = draw.sample([text for _, text in long if words(text) >= 60], len(chosen))
    texts = []
    for question, host in zip(chosen, hosts, strict=True):
        place = draw.randrange(len(host.split()))
        parts = host.split()
        texts.append(" ".join([*parts[:place], question.upper(), *parts[place:]]))
    short, hosts_now = held("short", chosen), held("long", texts)
    known = {pair for pair in zip(range(len(chosen)), range(len(chosen)), strict=True)}
    before = {
        (pair.one_row, pair.other_row)
        for found in (near_pairs(short, hosts_now), copied_spans(short, hosts_now))
        for pair in found.pairs
    }
    started = time.process_time()
    wholes = whole_texts(short.sketch.digests, short.sketch.halves, hosts_now)
    seconds = time.process_time() - started
    after = before | set(wholes.pairs)
    return {
        "planted": len(chosen),
        "found_before": len(known & before),
        "found": len(known & after),
        "of_them_too_short": wholes.too_short,
        "not_planted_but_found": len(after - known),
        "cpu_seconds_of_the_new_comparison": round(seconds, 3),
    }


def by_chance(long: Sequence[tuple[str, str]], seed: int) -> dict[str, dict[str, int]]:
    """Sentences of n words: how many stand in the text of another article, and would be reported."""
    draw = random.Random(seed)
    sentences: dict[int, set[tuple[str, str]]] = {}
    for article, text in long:
        for part in _SENTENCE.split(text):
            sentences.setdefault(words(part), set()).add((article, part))
    articles, everything = [name for name, _ in long], held("all", [text for _, text in long])
    result = {}
    for count in range(LEAST - 2, SPAN):
        several = sorted(sentences.get(count, ()))
        chosen = draw.sample(several, min(NEGATIVES, len(several)))
        sketch = held("short", [text for _, text in chosen]).sketch
        found = whole_texts(sketch.digests, sketch.halves, everything).pairs
        result[str(count)] = {
            "sentences": len(chosen),
            "in_another_article": _elsewhere(chosen, long),
            "reported": len({one for one, other in found if articles[other] != chosen[one][0]}),
        }
    return result


def _elsewhere(chosen: Sequence[tuple[str, str]], long: Sequence[tuple[str, str]]) -> int:
    """How many stand there, plainly: by string search over normalised texts."""
    of_article: dict[str, list[str]] = {}
    for article, text in long:
        of_article.setdefault(article, []).append(" ".join(word for word, _, _ in tokens_with_offsets(text)))
    whole = {article: f" {'  '.join(texts)} " for article, texts in of_article.items()}
    found = 0
    for article, text in chosen:
        wanted = f" {' '.join(word for word, _, _ in tokens_with_offsets(text))} "
        found += any(wanted in other for name, other in whole.items() if name != article)
    return found


def among(asked: Sequence[str]) -> dict[str, int]:
    """Exam questions that stand inside other questions of the exam."""
    texts = held("questions", asked)
    found = whole_texts(texts.sketch.digests, texts.sketch.halves, texts)
    return {
        "questions": len(asked),
        "sought": found.sought,
        "too_short": found.too_short,
        "stock_phrases": found.stock,
        "inside_another": len({one for one, _ in found.pairs}),
    }


def throughput(asked: Sequence[str], long: Sequence[tuple[str, str]]) -> dict[str, float]:
    """CPU seconds of the comparisons the audit made before, and of this one, on the same texts."""
    short, texts = held("short", asked), held("long", [text for _, text in long])
    started = time.process_time()
    near_pairs(short, texts)
    copied_spans(short, texts)
    before = time.process_time() - started
    started = time.process_time()
    whole_texts(short.sketch.digests, short.sketch.halves, texts)
    whole_texts(texts.sketch.digests, texts.sketch.halves, short)
    return {
        "texts": len(long),
        "short_texts": len(asked),
        "cpu_seconds_before": round(before, 2),
        "cpu_seconds_added": round(time.process_time() - started, 2),
    }


def main() -> None:
    """Measure and save."""
    long = paragraphs(SHARED / "pmc-bucket")
    asked = [text for text in questions(SHARED / "vocab" / "FrenchMedMCQA") if 4 <= words(text) < SPAN]
    result = {
        "least_words": LEAST,
        "planted": planted(asked, long, 3),
        "sentences_of_another_article_by_words": by_chance(long, 5),
        "exam_questions_inside_others": among(asked),
        "speed": throughput(asked, long),
    }
    print(json.dumps(result, indent=1))
    save("short_texts", result)


if __name__ == "__main__":
    main()
