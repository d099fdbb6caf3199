"""Workspaces in which one kind of prompt after the other waits for its answers, and what answers them.

One is of figures with texts to search with (HyDE, Query2Doc), one of exam questions (intent, closed-book
answers, rewrites, reasoning paths, relevance), one of questions with passages to judge, one of questions to
be translated, and back. All are small: two articles.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.tasks.multilingual_evidence.settings import NAME as MULTILINGUAL
from curation.tasks.reference_qa.sql import NAME as REFERENCE
from flows.build.model_stages import settle
from flows.engine.progress import SilentReporter
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.specs import read_spec
from schemas.prompt import Prompt
from sources.sample import bucket_dir
from tests import evidence_world, translated_world
from tests.exam_files import ITEMS, write_exams
from tests.pipeline import crawl_bucket, crawl_questions, new_workspace, run_stages

MODEL = "scripted"
FIGURES, EVIDENCE, ANSWERED, TRANSLATED = "visual_context", evidence_world.NAME, REFERENCE, MULTILINGUAL
_EXAMS = ("embolism", "thyroid", "appendix", "myasthenia", "anaphylaxis", "pneumothorax", "celiac")
"""Written questions; every third is of one collection: three that the script gets right two times of three.

Fewer of a collection are no control set.
"""
_LONG = 60
"""Words of the passages that are kept: few, so that few pairs are judged."""
Script = Callable[[Prompt], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of prompt: what the command calls it, its stage, and the answer to each of its prompts."""

    name: str
    stage: str
    script: Script


def hyde(prompt: Prompt) -> dict[str, Any]:
    """A passage to search with."""
    return {"passage": f"Invented words on {prompt.subject}, how it is found and how it is treated."}


def query2doc(prompt: Prompt) -> dict[str, Any]:
    """A text to search with beside the query."""
    return {"text": f"Invented facts on {prompt.subject}, the terms of its signs and of its treatment."}


def translated(prompt: Prompt) -> dict[str, Any]:
    """Some text: whether it says the same is checked elsewhere."""
    return {"text": f"Una pregunta inventada sobre {prompt.subject.rpartition('/')[0][-8:]}."}


def translated_back(prompt: Prompt) -> dict[str, Any]:
    """Some English: whether it says the same is checked elsewhere."""
    return {"text": f"An invented question about {prompt.subject.rpartition('/')[0][-8:]}."}


KINDS: Mapping[str, tuple[Kind, ...]] = {
    FIGURES: (
        Kind("hyde", f"{FIGURES}_hyde", hyde),
        Kind("query2doc", f"{FIGURES}_query2doc", query2doc),
    ),
    EVIDENCE: (
        Kind("intent", f"{EVIDENCE}_intent", evidence_world.intent_of),
        Kind("closed_book", f"{EVIDENCE}_closed_book", evidence_world.knows),
        Kind("rewrite", f"{EVIDENCE}_rewrite", evidence_world.rewritten),
        Kind("reasoning_path", f"{EVIDENCE}_reasoning_path", evidence_world.path_of),
        Kind("judge", f"{EVIDENCE}_judge", evidence_world.judged_by_words),
    ),
    ANSWERED: (Kind(f"{ANSWERED}_judge", f"{ANSWERED}_judge", evidence_world.judged_by_words),),
    TRANSLATED: (
        Kind("translation", f"{TRANSLATED}_translation", translated),
        Kind("back_translation", f"{TRANSLATED}_back_translation", translated_back),
    ),
}
"""Task -> its kinds, each of which waits for the answers of the one before."""
SPECS = {
    FIGURES: f"""
name = "figures"
title = "Texts to search with"
[prompts]
model = "{MODEL}"
stages = ["hyde", "query2doc"]
is_trial = true
[tasks.{FIGURES}]
""",
    EVIDENCE: f"""
name = "evidence"
title = "Exam questions"
[prompts]
model = "{MODEL}"
is_trial = true
[tasks.{EVIDENCE}]
min_words = 25
min_document_words = {_LONG}
""",
    ANSWERED: f"""
name = "answered"
title = "Questions and what answers them"
[prompts]
model = "{MODEL}"
is_trial = true
[tasks.{ANSWERED}]
min_document_words = {_LONG}
mining_depth = 1
cited_depth = 1
""",
    TRANSLATED: f"""
name = "translated"
title = "Translated questions"
[prompts]
model = "{MODEL}"
is_trial = true
[tasks.{TRANSLATED}]
languages = ["es"]
back_translation = true
""",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A workspace in which the prompts of a kind wait, its spec, and text of a prompt -> its answer."""

    kind: Kind
    workspace: Workspace
    spec: Path
    answers: Mapping[str, str]

    def says(self, system: str, prompt: str) -> tuple[str, str]:
        """What the model answers, and what tells its prompts apart."""
        return self.answers[prompt], prompt


def waiting(folder: Path, task: str, answer: Callable[[Waiting, Path], Workspace]) -> Iterator[Waiting]:
    """Each kind of a task as it waits, in order.

    Args:
        folder: where the workspaces are made.
        task: of KINDS.
        answer: answers all that waits in a copy, at a path, and gives it back.
    """
    workspace, spec = built(folder, task, SPECS[task])
    for kind in KINDS[task]:
        prompts = read_rows(Prompt, _prompts(workspace, kind, spec))
        answers = {prompt.parts[0].value: json.dumps(kind.script(prompt)) for prompt in reversed(prompts)}
        scene = Waiting(kind, workspace, spec, answers)
        after = answer(scene, folder / f"after-{kind.name}")
        yield scene
        shutil.rmtree(workspace.root)
        workspace = after


def _prompts(workspace: Workspace, kind: Kind, spec: Path) -> tuple[Path, ...]:
    """The prompts that stand; those about queries are written by the command that asks them."""
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    settle(session, read_spec(spec))
    return table_files(workspace, f"{kind.stage}.prompts")


def built(folder: Path, task: str, text: str) -> tuple[Workspace, Path]:
    """A small workspace in which a task is built, and its spec.

    Args:
        folder: where both are made.
        task: of KINDS.
        text: the spec.
    """
    spec = folder / "spec.toml"
    spec.write_text(text, "utf-8")
    workspace = new_workspace(folder / "built")
    ids = sorted({path.name.partition(".")[0] for path in bucket_dir().glob("PMC*")})
    crawl_bucket(workspace, ids[:2])
    if task == EVIDENCE:
        items = [item for name in _EXAMS for item in ITEMS if item["id"] == name]
        crawl_questions(workspace, write_exams(folder / "exams", items))
    elif task in (ANSWERED, TRANSLATED):
        crawl_questions(workspace, translated_world.questions_in(folder))
    run_stages(workspace, ground=task != FIGURES, spec=read_spec(spec), tasks=[task])
    return workspace, spec
