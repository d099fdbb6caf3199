"""Case reports cut where something was decided: the examination ordered, the treatment chosen.

The text is cut before the first sentence that tells or hints at the decision, never masked; what follows is
the answer. The diagnosis is hidden by curation.tasks.shared.hide, as in clinical_case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from curation.fidelity.words import content_words, listed
from curation.prompts.intent import Scenario
from curation.tasks.shared.hide import Sentence
from schemas.concept import Mention

_TESTS = (
    r"CT|computed tomograph\w*|MRI|MR imag\w*|magnetic resonance\w*|MR angiogra\w*|PET(?:[/-]CT)?|ultraso\w+"
    r"|sonogra\w+|doppler|echocardiogra\w+|angiogra\w+|venogra\w+|scintigra\w+|bone scan|mammogra\w+"
    r"|\w*endoscop\w+|colonoscop\w+|gastroscop\w+|bronchoscop\w+|cystoscop\w+|laryngoscop\w+|esophagogastro\w+"
    r"|\w*biops\w+|fine[- ]needle aspirat\w*|lumbar puncture|bone marrow (?:aspirat\w*|examination)"
    r"|electromyogra\w+|electroencephalogra\w+|EEG|EMG|nerve conduction|polysomnogra\w+|spirometr\w+"
    r"|genetic test\w*|(?:exome|genome|gene|DNA|sanger|next-generation) sequenc\w*|karyotyp\w+|skin prick"
    r"|x-?rays?|radiogra(?:ph|phs|phy|phic|m)\b|orthopantomogra\w+|CBCT|dermoscop\w+|optical coherence\w*"
    r"|fundoscop\w+|funduscop\w+|electrocardiogra\w+|ECG|catheteri[sz]ation|thoracentesis|paracentesis"
    r"|diagnostic laparoscop\w+|serolog\w+|polymerase chain reaction|PCR|blood cultures?|stool cultures?"
)
_TEST = re.compile(rf"\b(?:{_TESTS})\b", re.IGNORECASE)
_MADE = re.compile(
    r"\b(?:perform\w*|obtain\w*|order\w*|request\w*|carried out|done|under(?:went|taken|go\w*)|taken|advised"
    r"|scheduled|recommended|sent|show\w*|reveal\w*|demonstrat\w*|disclos\w*|detect\w*|identif\w*|confirm\w*"
    r"|was (?:normal|negative|positive)|were (?:normal|negative|positive))\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:previous\w*|prior|ago|years? before|months? before|past|elsewhere|another (?:hospital|clinic"
    r"|centre|center)|outside (?:hospital|clinic)|had (?:been|undergone|received|had)|history of|earlier"
    r"|known to)\b",
    re.IGNORECASE,
)
_SHOWS_NOTHING = re.compile(
    r"\b(?:normal|unremarkable|negative|no (?:abnormal\w*|evidence|other|significant|tumou?r|sign)"
    r"|(?:show|reveal|demonstrat|disclos|detect)\w* no\b|not (?:show|reveal|demonstrat|detect)\w*"
    r"|restaging|repeat\w*|follow[- ]?up|control (?:CT|MRI|scan|x-ray)"
    r"|pre-?operative)\b",
    re.IGNORECASE,
)
"""An examination that told nothing new was not the one to order."""
_TREATED = re.compile(
    r"\b(?:(?:was|were) (?:then |subsequently |immediately |successfully |surgically |conservatively |also )*"
    r"(?:treated|managed|started|commenced|initiated|placed|put|given|administered|prescribed|operated"
    r"|resected|excised|removed|enucleated|drained|transfused|intubated|implanted|infused|injected)"
    r"|under(?:went|go\w*|taken)|received|treatment (?:with|was|consisted|included|plan|of choice)"
    r"|therapy (?:with|was|consisted|included)|we (?:treated|started|performed|decided|chose|planned"
    r"|initiated|administered|prescribed)|(?:was|were) (?:advised|planned|scheduled|referred|taken)"
    r" (?:for|to)|surgery was|operation was|decision was|decided to|regimen)\b",
    re.IGNORECASE,
)
_THERAPY = re.compile(
    r"\b(?:\w+(?:ectomy|plasty|otomy|ostomy|pexy|desis|lysis|rraphy)|surg\w+|operat\w+|resect\w+|excis\w+|enucleat\w+"
    r"|debrid\w+|drain\w+|transplant\w*|implant\w*|graft\w*|stent\w*|embolis\w+|emboliz\w+|ablat\w+|chemo\w+"
    r"|radio(?:therapy|surgery|iodine)|radiation|irradiat\w+|immunotherap\w+|antibiotic\w*|antifungal\w*|antiviral\w*"
    r"|corticosteroid\w*|steroid\w*|immunoglobulin\w*|plasmapheresis|plasma exchange|dialysis|hemodialysis"
    r"|transfusion\w*|anticoagul\w+|insulin|splint\w*|cast|brace|physiotherap\w+|rehabilitat\w+|psychotherap\w+"
    r"|ventilat\w+|intubat\w+|laser|suture\w*|fixation|reduction|injection\w*|infusion\w*|lavage"
    r"|\w{3,}(?:mab|nib|cillin|mycin|micin|floxacin|azole|prazole|sartan|statin|vir|olol|parin|platin|taxel|rubicin"
    r"|tide|gliptin|setron|triptan|asone|olone|isone|amide|pril|dipine|azepam|barbital|phylline|cycline|xaban)"
    r")\b",
    re.IGNORECASE,
)
_UNDER_WAY = re.compile(
    r"\b(?:incis(?:ion|ions|ed)|dissect\w*|sutur\w*|an(?:a)?esthe\w+|sedat\w+|inserted|exposed|intra-?operative\w*"
    r"|postoperative\w*|post-operative\w*|hydration|oxygen|resuscitat\w*|removed|extracted|replaced)\b",
    re.IGNORECASE,
)
"""What is done when a treatment has begun."""
_OPERATIVE = re.compile(r"\b(?:surg\w+|operat\w+|pre-?operativ\w+)\b", re.IGNORECASE)
_BY_HAND = re.compile(
    r"\b(?:\w+(?:ectomy|plasty|otomy|ostomy|pexy|desis|rraphy)|resect\w*|excis\w*|enucleat\w*|fixation|graft\w*"
    r"|transplant\w*|debrid\w*)\b",
    re.IGNORECASE,
)
"""Treatments that any word of an operation hints at."""
_NUMBS = re.compile(r"an(?:a)?esthe|sedat|consent", re.IGNORECASE)
_FAILED = re.compile(
    r"\b(?:ineffective|no (?:clinical |significant )?(?:improvement|effect|response)"
    r"|without (?:improvement|success|effect|response)|failed|did not (?:improve|respond)|unsuccessful\w*"
    r"|refractory|remained unknown|refused|declined|postoperative|weeks after)\b",
    re.IGNORECASE,
)
"""What the authors themselves say did not help, was not done or came after is no answer."""
_CHILD = r"infants?|newborns?|neonates?|bab(?:y|ies)|child|boy|girl|toddler|preterm"
_IS_CHILD = re.compile(rf"\b(?:{_CHILD})\b", re.IGNORECASE)
_GROWN = re.compile(r"\b(?:wom[ae]n|m[ae]n|lady|gentleman|pregnant|gravida|\w+para|mother)\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(
    r"\b(?:the|his|her|whose|this|['’]s) (?:[\w-]+ )?(?:mother|father|parents?|donor|brother|sister|twin"
    r"|husband|wife)\b"
    rf"(?!['’])(?:(?!\b(?:he|she|patient|{_CHILD})\b)[^.;])*$",
    re.IGNORECASE,
)
"""Before a verb whose subject is not the patient."""
_GENERIC = listed(
    """
    treatment treatments therapy therapies surgery surgeries surgical surgically operation operations
    operative operated operating drug drugs cast reduction medication medications procedure protein analysis
    pharmaceutical anesthetic anesthesia anaesthesia
    """
)
"""Words that say that something was done, and not what."""
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence of a case that tells a decision, by its place among them, and the words that do."""

    at: int
    words: tuple[str, ...]
    stems: frozenset[str]


Told = Sequence[Mention]
Finder = Callable[[Sequence[Sentence], Told, frozenset[str]], Answer | None]


def examination(sentences: Sequence[Sentence], told: Told, treatments: frozenset[str]) -> Answer | None:
    """The first examination of the present illness beyond hands and blood.

    Args:
        sentences: of the case, in order.
        told: concepts named in its passages.
        treatments: concepts that are drugs or therapeutic procedures; not needed here.
    """
    for at, sentence in enumerate(sentences):
        text = sentence.text
        found = _TEST.findall(text)
        if found and _MADE.search(text) and not _PAST.search(text) and not _SHOWS_NOTHING.search(text):
            return _answer(at, found)
    return None


def treatment(sentences: Sequence[Sentence], told: Told, treatments: frozenset[str]) -> Answer | None:
    """The first treatment of the present illness that is named.

    Args:
        sentences: of the case, in order.
        told: concepts named in its passages.
        treatments: concepts that are drugs or therapeutic procedures.
    """
    is_child = _is_of_child(sentences)
    for at, sentence in enumerate(sentences):
        text = sentence.text
        if _is_of_another(text, is_child=is_child):
            continue
        is_told = sentence.span.role == "course" and _TREATED.search(text) and not _PAST.search(text)
        if not is_told and not (sentence.span.role == "course" and _UNDER_WAY.search(text)):
            continue
        found = [word for word in _THERAPY.findall(text) if word.lower() not in _GENERIC]
        found += [item.text for item in _within(sentence, told, treatments) if item.concept in treatments]
        if _FAILED.search(text):
            return None
        # A treatment that has begun without a name cannot be asked for, nor what came after it.
        return _answer(at, found) if found and is_told else None
    return None


def _is_of_child(sentences: Sequence[Sentence]) -> bool:
    """Whether the patient is a child, whose mother is somebody else."""
    for sentence in sentences[:2]:
        child, grown = _IS_CHILD.search(sentence.text), _GROWN.search(sentence.text)
        if child or grown:
            return child is not None and (grown is None or child.start() < grown.start())
    return False


def _is_of_another(text: str, *, is_child: bool) -> bool:
    """Whether what a sentence says was done was done to a relative; "the mother" may be the patient."""
    found = _TREATED.search(text)
    other = _OF_ANOTHER.search(text[: found.start()]) if found else None
    return other is not None and (
        is_child or not other.group().lower().startswith(("the mother", "this mother"))
    )


def _within(sentence: Sentence, told: Told, treatments: frozenset[str]) -> list[Mention]:
    """Mentions inside a sentence that name no examination."""
    span = sentence.span
    ends = {item.end for item in told if item.text_id == span.passage_id and item.concept in treatments}
    return [
        item
        for item in told
        if item.text_id == span.passage_id
        and span.start <= item.start
        and item.end <= span.end
        and item.text.lower() not in _GENERIC
        and not _NUMBS.search(item.text)
        and not _TEST.search(item.text)
        and item.start - 1 not in ends  # the salt of a drug: "cefuroxime sodium"
    ]


FINDERS: Mapping[Scenario, Finder] = {"examination": examination, "treatment": treatment}


def _answer(at: int, found: Sequence[str]) -> Answer:
    words = tuple(dict.fromkeys(found))
    stems = {word.stem for text in words for word in content_words(text) if len(word.stem) >= _SHORTEST}
    stems |= {text.lower() for text in words if text.isupper()}
    return Answer(at, words, frozenset(stems))


def cut_before(sentences: Sequence[Sentence], answer: Answer) -> int:
    """Number of sentences before the first that has a word of the answer in it, or tells the decision."""
    is_by_hand = any(_BY_HAND.search(word) for word in answer.words)
    for at, sentence in enumerate(sentences[: answer.at]):
        text = sentence.text
        words = {word.stem for word in content_words(text)}
        words |= {word.group().lower() for word in re.finditer(r"\b[A-Z]{2,}\b", text)}
        hints = is_by_hand and _OPERATIVE.search(text) and not _PAST.search(text)
        if words & answer.stems or hints:
            return at
    return answer.at
