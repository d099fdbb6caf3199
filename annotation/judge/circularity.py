"""Whether a judge and a system that shaped the pools are of one model family: then one flatters the other.

Models of one family share training text and habits, so a judge may favour what its relative retrieved (Balog,
Metzler and Qin 2025, arXiv 2503.19092; Clarke and Dietz 2024, arXiv 2412.17156).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "gpt": (r"gpt", r"chatgpt", r"o[134](-|$)", r"text-embedding-(3|ada)", r"openai", r"davinci"),
    "claude": (r"claude", r"anthropic"),
    "gemini": (r"gemini", r"gemma", r"medgemma", r"gecko", r"text-embedding-00\d", r"palm"),
    "llama": (r"llama", r"vicuna", r"meditron", r"repllama", r"rankllama", r"llm2vec"),
    "mistral": (r"mistral", r"mixtral", r"ministral", r"biomistral", r"zephyr", r"sfr-embedding", r"linq"),
    "qwen": (r"qwen", r"qwq", r"gte-.*instruct"),
    "deepseek": (r"deepseek",),
    "phi": (r"phi-?\d",),
    "nomic": (r"nomic",),
    "cohere": (
        r"cohere",
        r"command-?r",
        r"rerank-(english|multilingual|v\d)",
        r"embed-(english|multilingual)",
    ),
    "e5": (r"e5",),
    "bge": (r"bge", r"baai"),
    "gte": (r"gte",),
    "jina": (r"jina",),
    "t5": (r"t5", r"monot5", r"gtr", r"flan"),
    "medcpt": (r"medcpt", r"ncbi/"),
    "pubmedbert": (r"pubmedbert", r"biomedbert", r"biomedclip", r"biobert", r"sapbert", r"medcpt"),
    "minilm": (r"minilm",),
    "clip": (r"clip", r"siglip"),
    "colbert": (r"colbert",),
    "use": (r"^dense$", r"universal-sentence-encoder"),
}
"""family -> patterns of lower-case names, each at the start of a word. A name may be of several families, as
e5-mistral is of both; medcpt was trained from PubMedBERT. Lexical systems (bm25) are of none."""


_WITHOUT_MODEL: Final = re.compile(r"bm25|concepts|citation|exact name")


@dataclass(frozen=True, slots=True)
class Relation:
    """A system of the judge's own family."""

    system: str
    families: tuple[str, ...]


def families(name: str) -> frozenset[str]:
    """Families a model or system name belongs to; of a system with a reranker, those of both."""
    text = name.casefold()
    return frozenset(
        family
        for family, patterns in FAMILIES.items()
        if any(re.search(p if p.startswith("^") else rf"(?<![a-z0-9]){p}", text) for p in patterns)
    )


def unknown(names: Iterable[str]) -> tuple[str, ...]:
    """Models, and systems with one, whose family nobody can tell from their names."""
    return tuple(name for name in sorted(set(names)) if has_model(name) and not families(name))


def has_model(system: str) -> bool:
    """Whether there is a model in a system; lexical ones and rules have none."""
    return not _WITHOUT_MODEL.fullmatch(system)


def circular(model: str, systems: Iterable[str]) -> tuple[Relation, ...]:
    """Systems of the judge's family, or the very model itself, by name."""
    own = families(model)
    found = []
    for system in sorted(set(systems)):
        shared = own & families(system)
        if shared or model.casefold() in system.casefold():
            found.append(Relation(system, tuple(sorted(shared))))
    return tuple(found)
