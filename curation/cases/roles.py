"""Which part of the story each sentence of a case tells: presentation, findings, course, or nothing of it.

The sentences are read together: words speak for a part, and so does the part that the sentence before tells.
How much was learned from stories whose sentences were marked (`scripts/role_weights.py`); the likeliest
sequence of parts is taken (Viterbi), in whole numbers.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from curation.cases.headings import Kind, read
from curation.cases.patient import introduces

Role = Literal["presentation", "findings", "course"]
_TITLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("course", re.compile(
        r"treatment|management|follow|outcome|course|therap|operation|surgery|surgical|procedure"
        r"|intervention|progress|evolu|complication|tratam|traitement|verlauf"
        r"|prognosis|postoperative", re.IGNORECASE)),
    ("findings", re.compile(
        r"finding|examination|investigation|diagn[oó]s|imaging|laborator|patholog|histolog|radiolog"
        r"|assessment|work-?up|tests?\b|genetic|sequencing|analysis|results|exploraci", re.IGNORECASE)),
    ("presentation", re.compile(
        r"history|patient information|presentation of symptoms|complaint|anamnes|symptoms", re.IGNORECASE)),
)  # fmt: skip
_PRESENTATION = re.compile(
    r"\b(?:present(?:ed|ing) (?:to|with|for|at|after|because|in)|complain\w*|admitted|admission|referred"
    r"|consulted|history|symptoms?|suffer\w*|noticed|smok\w+|alcohol|denied|denies|was born"
    r"|birth ?weight|born (?:at|to|by|after|via)|deliver(?:ed|y)|gestation|pregnan\w+|gravida|occupation"
    r"|was taking|medications?|known (?:case|to have)|years? (?:ago|before|earlier|prior)|months? (?:ago"
    r"|before|earlier|prior)|days? (?:ago|before|earlier|prior)|since|chief complaint|came to|visited"
    r"|brought to|family|parents|allerg\w+|comorbid\w*|past medical|unremarkable history|antecedent\w*"
    r"|queixa\w*|consult[oó]|acud\w+|ingres\w+|se plaignait|anamnes\w+|niega|negaba|refiere|refer[íi]a"
    r"|relatava|negava|rapporte)\b",
    re.IGNORECASE,
)
_FINDINGS = re.compile(
    r"\b(?:examination|physical exam\w*|on exam|reveal\w*|show(?:ed|n|s|ing)?|demonstrat\w+|disclos\w+"
    r"|detected|identified|laboratory|blood (?:pressure|count|tests?|cultures?|gas)|haemoglobin"
    r"|hemoglobin|platelets?|white (?:blood )?cell|c-reactive|creatinine|serum|urin(?:e|alysis)|levels?"
    r"|positive(?! (?:airway|end|pressure))|negative|normal|elevated|mg/d?l|g/d?l|mmol\S*|mm ?hg|u/l|°c|bpm"
    r"|beats|heart rate|ct|mri"
    r"|mr|x-?rays?|radiograph\w*|tomograph\w*|ultraso\w+|sonograph\w*|echocardiogra\w+"
    r"|electrocardiogra\w+|ecg|ekg|eeg|pet|angiogra\w+|scans?|imaging|endoscop\w+|colonoscop\w+|biops\w+"
    r"|histolog\w+|histopatholog\w+|patholog\w+|cytolog\w+|immunohistochem\w+|stain\w*|specimen"
    r"|cultures?|microscop\w+|sequenc\w+|mutation|karyotyp\w+|pcr|measur\w+|vital signs|palpa\w+"
    r"|(?:hyper|hypo|iso)-?(?:intens|dens|echo|attenuat|metabolic)\w*|t[12](?:-weighted)?|weighted|flair"
    r"|exclud\w+|exhibit\w+|cliniquement|afébrile"
    r"|tender\w*|auscultat\w+|neurological|afebrile|consistent with|suggest\w*|suspicio\w+|differential"
    r"|diagnos\w+|exploraci[oó]n|exame|examen|revel\w+|mostr\w+|montr\w+|zeigte\w*|befund\w*)\b",
    re.IGNORECASE,
)
_COURSE = re.compile(
    r"\b(?:treated|treatment|therap\w+|started|stopped|added|advised|initiated|commenced|administ\w+|given"
    r"|prescribed|received|dose[sd]?|underwent|surg\w+|operat\w+|resect\w+|excis\w+|remov(?!able)\w+"
    r"|performed|incision|sutur\w+|anesthesi\w+|anaesthesi\w+|transfus\w+|intubat\w+|ventilat\w+"
    r"|discharg\w+|follow[- ]?up|followed (?:up|for|at|in|on|by|with)|recover\w+|improv\w+|resol\w+|relie\w+"
    r"|recurren\w+|relaps\w+|died|death|expired|postoperativ\w+|postsurg\w+|weeks? later|months? later"
    r"|years? later|after (?:\w+ )?(?:days?|weeks?|months?|years?)|uneventful\w*|remission|discontinu\w+"
    r"|airway pressure|tapered|replaced|transferred|intensive care|implant\w*|repair\w*|reconstruct\w*"
    r"|drain\w*|chemotherapy|radiotherapy|antibiotics?|regimen|mg(?!\s?/\s?(?:d?l|ml|g|24)\b)|alta|tratamiento"
    r"|tratamento|[eé]volution|cirug\w+|cirurg\w+|evoluci\w+|evolu[çc]\w+|traitement|entlass\w+)\b",
    re.IGNORECASE,
)
LABELS: tuple[Role | None, ...] = ("presentation", "findings", "course", None)
"""None is a sentence of no patient: what a disease is, what others saw."""
_LISTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("presentation", _PRESENTATION),
    ("findings", _FINDINGS),
    ("course", _COURSE),
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*|%")
_STEM = 7
"""Letters of a word that are read: "treatment" is "treatments", "tratamento" nearly "tratamiento"."""
_PLACES = 5
_MOST = 3
"""Words of a list are counted up to this."""
_SOON = 12
"""Sentences among which the patient is introduced by age, if at all; those before say what the disease is."""
_NEVER = -(10**6)


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of a case as it is read.

    Args:
        text: the sentence.
        paragraph: whatever tells its paragraph from others.
        stated: the part that the title above it gives.
    """

    text: str
    paragraph: str
    stated: Role | None


@dataclass(frozen=True, slots=True)
class _Weights:
    of: dict[str, tuple[int, ...]]
    """What a sentence shows -> how it speaks for each label."""
    then: tuple[tuple[tuple[int, ...], ...], ...]
    """In one paragraph, and from one to the next: label before -> label -> how it speaks."""


@functools.cache
def _weights() -> _Weights:
    data = tomllib.loads(Path(__file__).with_name("roles.toml").read_text("utf-8"))
    rows = (line.rsplit("\t", 1) for line in data["words"].strip().split("\n"))
    return _Weights(
        of={word: tuple(map(int, points.split())) for word, points in rows},
        then=tuple(tuple(tuple(row) for row in data[name]) for name in ("within", "across")),
    )


def title_role(titles: Sequence[str]) -> Role | None:
    """The role the innermost telling section title gives its text, None if the titles do not say."""
    for at, title in reversed([*enumerate(titles)]):
        if not at and read(title).kind is not Kind.MORE:
            break  # the title of the case itself
        for role, pattern in _TITLES:
            if pattern.search(title):
                return role
    return None


def shown(sentences: Sequence[Told]) -> Iterator[set[str]]:
    """What speaks for the label of each sentence: words, pairs of them, words of the lists, place, title."""
    met = next((at for at, told in enumerate(sentences[:_SOON]) if introduces(told.text)), 0)
    for at, told in enumerate(sentences):
        words = ["0" if word[0].isdigit() else word[:_STEM] for word in _TOKEN.findall(told.text.lower())]
        found = {*words, *(f"{one} {two}" for one, two in zip(["^", *words], words, strict=False))}
        found.add(f"@place {min(_PLACES - 1, _PLACES * at // len(sentences))}")
        if not at:
            found.add("@first")
        if at == len(sentences) - 1:
            found.add("@last")
        if at < met:
            found.add("@before")
        if is_across(sentences, at):
            found.add("@paragraph")
        if told.stated:
            found.add(f"@title {told.stated}")
        for name, words_of in _LISTS:
            count = min(_MOST, len(words_of.findall(told.text)))
            found |= {f"@{name} {number}" for number in range(1, count + 1)}
        yield found


def is_across(sentences: Sequence[Told], at: int) -> bool:
    """Whether a sentence begins a paragraph."""
    return not at or sentences[at].paragraph != sentences[at - 1].paragraph


def roles_of(sentences: Sequence[Told], is_of_patient: Callable[[str], bool]) -> list[Role | None]:
    """Roles of the sentences of one case in order; None for one of no patient.

    One under a title that gives a part is of the patient.

    Args:
        sentences: all of them.
        is_of_patient: asked of a sentence that seems to be of none.
    """
    weights = _weights()
    none = (0,) * len(LABELS)
    points = [
        [sum(column) for column in zip(*(weights.of.get(one, none) for one in found), strict=True)]
        for found in shown(sentences)
    ]
    for told, own in zip(sentences, points, strict=True):
        if told.stated:
            own[-1] = _NEVER
    while True:
        found = [LABELS[label] for label in _likeliest(points, sentences, weights)]
        wrong = [
            at
            for at, role in enumerate(found)
            if role is None and points[at][-1] > _NEVER and is_of_patient(sentences[at].text)
        ]
        if not wrong:
            return found
        for at in wrong:
            points[at][-1] = _NEVER


def _likeliest(points: Sequence[Sequence[int]], sentences: Sequence[Told], weights: _Weights) -> list[int]:
    """The sequence of labels with most points; of equal ones the earlier label."""
    labels = range(len(LABELS))
    best: list[int] = []
    came: list[list[int]] = []
    for at, own in enumerate(points):
        if not at:
            best = list(own)
            continue
        then = weights.then[is_across(sentences, at)]
        before = [max(labels, key=lambda one: (best[one] + then[one][label], -one)) for label in labels]
        best = [best[before[label]] + then[before[label]][label] + own[label] for label in labels]
        came.append(before)
    label = max(labels, key=lambda one: (best[one], -one)) if best else 0
    path = [label]
    for before in reversed(came):
        label = before[label]
        path.append(label)
    return path[::-1] if best else []
