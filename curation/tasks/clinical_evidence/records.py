"""Vignettes on their way to queries, and where the case reports say what was decided."""

from __future__ import annotations

from typing import Literal

from curation.prompts.intent import Scenario
from schemas.benchmark import Evidence, Transform
from schemas.question import Option
from schemas.record import column, record

Origin = Literal["case", "question"]


@record
class Vignette:
    """A patient's story without the answer to what is asked about it; the answer stays out of its text."""

    id: str = column("hash of the text, prefixed by the task")
    unit: str = column("case and scenario, or question, that it was made of")
    origin: Origin = column("a case report cut at a decision, or a question of a collection")
    scenario: Literal["examination", "diagnosis", "treatment", ""] = column(
        "what is asked for; '' for a question until its intent is known"
    )
    text: str = column("the story and the question")
    language: str = column("BCP-47")
    source_id: str = column("case or question id")
    article_id: str = column("article, or collection of questions")
    patient_id: str = column("case it tells of, '' for a question", default="")
    license: str = column("SPDX id")
    license_evidence: str = column("where the licence was read")
    text_sha256: str = column("hex SHA-256 of the source text")
    transforms: tuple[Transform, ...] = column("from source text to this text", default=())
    is_synthetic: bool = column("made from synthetic input", default=False)
    family: str = column("of a question what all that is made of its text share, '' for a case", default="")
    specialty: str = column("main specialty, '' when undecided", default="")
    targets: tuple[str, ...] = column("specific concepts of the answer (CURIEs)", default=())
    answer: str = column("the answer: the sentence of the report, or the key in words")
    answer_words: tuple[str, ...] = column("words that say the answer; none stands in the text", default=())
    evidence: tuple[Evidence, ...] = column("of a case, where the answer stands", default=())
    explanation: str = column("reasoning given with the answer, '' when there is none", default="")
    options: tuple[Option, ...] = column("of a question, its options", default=())
    correct: tuple[str, ...] = column("letters of the correct options", default=())


@record
class Decision:
    """Where a case report was cut, and where it says what was decided."""

    vignette_id: str = column("vignette")
    case_id: str = column("case it was made of")
    scenario: Scenario = column("what was decided")
    start: int = column("offset in the source text of the case of the words it was cut before")
    end: int = column("offset after them")
    text: str = column("those words as written; they re-extract")
    how: str = column(
        "answer, hint (a word of it said before), or as in clinical_case what gives the diagnosis away"
    )


@record
class Rewrite:
    """An exam question as a model rewrote it, before anybody checked what it says."""

    unit: str = column("vignette it is of")
    text: str = column("the rewritten question, white space folded")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")


@record
class Intent:
    """What a question asks for, as a model sorted it."""

    unit: str = column("vignette it is of")
    scenario: Scenario = column("what is asked for")
    asks: str = column("what is asked for, in the model's words")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")


@record
class ClosedAnswer:
    """One answer of one model to a question that was put to it without anything to look up."""

    prompt_id: str = column("prompt")
    unit: str = column("vignette it is of")
    form: str = column("which of the askings: sample-1 and so on, each with the options in another order")
    options: int = column("options to choose from, 0 for an open question")
    answered: str = column("the option it chose, or its words")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")


@record
class Attempt:
    """A closed-book answer beside the key."""

    prompt_id: str = column("prompt")
    collection: str = column("collection of the question")
    unit: str = column("vignette it is of")
    form: str = column("which of the askings")
    options: int = column("options to choose from, 0 for an open question")
    is_right: bool = column("whether it is the key, spacing, case and punctuation folded")
    model: str = column("model as it was asked for")


@record
class ControlSet:
    """The questions of one collection, on which a model has to do better than chance."""

    id: str = column("collection")


@record
class Asked:
    """One question that was put to models without anything to look up."""

    collection: str = column("collection")
    unit: str = column("vignette")


@record
class Hardness:
    """A question that is not too easy."""

    unit: str = column("vignette")
    right: int = column("right closed-book answers of models that count")
    tries: int = column("all their answers")
    models: int = column("models that count: better than chance on the collection")
    is_suspect: bool = column("no answer is right, so that the key may be wrong; people have not said yet")
    key_rule: str = column("rule of the verdict by which people found a suspect key right", default="")


@record
class ReasoningPath:
    """How a model gets from a vignette to its answer. It shapes labels, and is no evidence."""

    unit: str = column("vignette it is of")
    text: str = column("the steps, white space folded")
    quotes: tuple[Evidence, ...] = column("words of the vignette it rests on; offsets in its text")
    model: str = column("model as it was asked for")
    served_model: str = column("model as the server named it, '' when it did not")
    prompt_sha256: str = column("hex SHA-256 of all that the prompts of this kind have in common")


@record
class FoundEvidence:
    """What found a passage for a vignette."""

    pair: str = column("pair")
    query_id: str = column("query")
    corpus_id: str = column("passage")
    found_by: tuple[str, ...] = column("system, view and rank of each that found it, e.g. bm25:answer:3")


@record
class EvidenceAnswer:
    """The answer of a vignette and the path that leads to it; published apart from the query."""

    query_id: str = column("query")
    source_id: str = column("case and scenario, or question, it was made of")
    answer: str = column("the answer in words")
    explanation: str = column("the reasoning path that a language model wrote; no evidence")
