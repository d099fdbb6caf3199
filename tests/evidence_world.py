"""A world of clinical_evidence: the sample with invented exams, and answers of models written as a script."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from curation.prompts.answers import is_valid
from curation.prompts.material import read_block
from curation.tasks.clinical_evidence.task import TASK
from flows.adapters.answering import store_of
from flows.adapters.cache import AnswerCache
from flows.adapters.llm_runner import key_of, store_name
from flows.engine.runner import read_rows, table_files
from flows.engine.workspace import Workspace
from flows.specs import DATA_CARDS, read_spec
from schemas.prompt import Prompt, seed_of
from tests.conftest import copied
from tests.exam_files import ITEMS
from tests.pipeline import run_stages

NAME = TASK.name
SPEC = """
name = "evidence"
title = "Evidence for a test"
[prompts]
model = "scripted"
is_trial = true
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[tasks.clinical_evidence]
min_words = 25
"""
_WORDS = re.compile(r"[a-z]{5,}")


OF_QUESTION = {" ".join(item["question"].split()): item for item in ITEMS}
INTENTS = {"gout": "other", "stroke": "prognosis"}
"""What a script says amiss of these questions; the second is no scenario."""
SPOILT = (
    "kawasaki", "addison", "cholangitis", "pericarditis", "nephrotic", "ulcerative", "sarcoid",
    "diverticulitis",
)  # fmt: skip
"""Questions whose rewrite changes what they say."""


def item_of(prompt: Prompt) -> dict[str, Any]:
    """The written question that a prompt shows."""
    return OF_QUESTION[" ".join(read_block(prompt, "question").split())]


def intent_of(prompt: Prompt) -> dict[str, Any]:
    item = item_of(prompt)
    return {"scenario": INTENTS.get(item["id"], item["scenario"]), "asks": "what comes next"}


def knows(prompt: Prompt) -> dict[str, Any]:
    """As many of its answers are right as the item says."""
    item, number = item_of(prompt), int(prompt.form.rpartition("-")[2])
    right = item["options"]["ABCD".index(item["correct"])]
    return {"answer": right if number <= item["known"] else min(set(item["options"]) - {right})}


def rewritten(prompt: Prompt) -> dict[str, Any]:
    item = item_of(prompt)
    return {"text": item["spoilt" if item["id"] in SPOILT else "rewrite"]}


def path_of(prompt: Prompt) -> dict[str, Any]:
    """A path for every story; of every sixth one quotes what nobody wrote."""
    story, decision = read_block(prompt, "vignette"), read_block(prompt, "answer")
    words = story.split()
    told = f"What was found speaks for this: {decision} It is known to go with such findings and no others."
    quote = " ".join(words[2:8]) if len(story) % 6 else "words that nobody wrote"
    return {"path": f"{told} It began so: {' '.join(words[:12])}", "quotes": [quote]}


def judged_by_words(prompt: Prompt) -> dict[str, Any]:
    """Scores by the words that a passage shares; some quotes are made up, and some orders disagree."""
    passage = read_block(prompt, "passage")
    held = set(_WORDS.findall(passage.lower()))
    said: dict[str, Any] = {}
    asked = json.loads(prompt.answer_schema)["properties"]
    for axis in (name for name in ("answer", "reasoning") if name in asked):
        score = min(3, len(held & set(_WORDS.findall(read_block(prompt, axis).lower()))))
        if prompt.form == "reversed" and len(passage) % 7 == 0:
            score = 3 - score
        if seed_of(prompt.form) and len(passage) % 5 == 0:
            score = max(0, score - 1)
        quote = " ".join(passage.split()[1:6]) if len(passage) % 9 else "words that nobody wrote there"
        said |= {axis: score, f"{axis}_quotes": [quote] if score else []}
    return said


class World:
    """A workspace and its spec, and the model's answers as a script gives them."""

    def __init__(self, root: Path, sample: Workspace) -> None:
        self.cards = root / "data_cards"
        shutil.copytree(DATA_CARDS / "medqrels-sample", self.cards)
        (self.cards / "spec.toml").write_text(SPEC, "utf-8")
        self.spec = read_spec(self.cards / "spec.toml")
        self.workspace = copied(sample, root / "ws")

    def build(self) -> None:
        run_stages(self.workspace, spec=self.spec)

    def store(self, stage: str, script: Callable[[Prompt], Mapping[str, Any]]) -> int:
        """Answers of a script, stored as those of any model; how many."""
        prompts = read_rows(Prompt, table_files(self.workspace, f"{NAME}{stage}.prompts"))
        with AnswerCache(store_of(self.workspace), store_name("scripted")) as held:
            held.put({key_of(prompt): _stored(prompt, script(prompt)) for prompt in prompts})
        return len(prompts)

    def rows(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path in table_files(self.workspace, f"{NAME}{table}"):
            found += pq.read_table(path).to_pylist()
        return found

    def dropped(self, stage: str) -> Counter[str]:
        return Counter(row["reason"] for row in self.rows(f"{stage}._dropped"))

    def outputs(self) -> dict[str, bytes]:
        """Every file of the task's stages but what tells time and host."""
        found = sorted(self.workspace.work.glob(f"{NAME}*/*/*"))
        return {str(path): path.read_bytes() for path in found if path.name != "_run.json"}


def _stored(prompt: Prompt, values: Mapping[str, Any]) -> bytes:
    text = json.dumps(values)
    kept = {
        "call": "", "served_model": "scripted", "text": text,
        "state": "answered" if is_valid(prompt, text) else "invalid",
        "mode": "plain", "tokens_in": None, "tokens_out": None,
    }  # fmt: skip
    return json.dumps(kept, sort_keys=True).encode()
