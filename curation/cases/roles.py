"""Which part of the story a sentence tells: presentation, findings or course.

Words of each role are counted in the sentence; what the section title says comes first, order decides ties.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from curation.cases.headings import Kind, read

Role = Literal["presentation", "findings", "course"]

_TITLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("course", re.compile(
        r"treatment|management|follow|outcome|course|therap|operation|surgery|surgical|procedure"
        r"|intervention|progress|evolu|complication|tratam|traitement|verlauf"
        r"|prognosis|postoperative", re.IGNORECASE)),
    ("findings", re.compile(
        r"finding|examination|investigation|diagnos|imaging|laborator|patholog|histolog|radiolog"
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
_GOES_ON = re.compile(
    r"\b(?:subsequent\w*|eventually|continu\w+|began|begun|maintained|monitored|asymptomatic|followed)\b",
    re.IGNORECASE,
)
"""Words for the passing of time, said of an illness as of its treatment: alone they change no role."""
_NO_TREATMENT = re.compile(
    r"\binversion[- ]recovery\b|\brecovery (?:images?|sequences?)\b"
    r"|\bstart(?:ed|s|ing) (?:to (?!receiv|tak|us|treat)|having\b|feeling\b|experiencing\b)"
    r"|\b(?:grand)?(?:mother|father|brother|sister|sibling|parent|aunt|uncle|cousin|son|daughter)s?\b"
    r"(?: \w+){0,3} (?:died|deaths?)\b"
    r"|\b(?:años?|anos?|meses|mes|mês|d[ií]as?|semanas?|horas?) de (?:evoluci[oó]n|evolução)\b"
    r"|\b(?:ans?|mois|jours?|semaines?) d['’]évolution\b"
    r"|\btraitement (?:médicamenteux|habituel|de fond|au long cours)\b"
    r"|\b(?:skull|cranial|coronal|sagittal|lambdoid|metopic) sutures?\b",
    re.IGNORECASE,
)
"""Where a word of treatment or outcome is none: of an image, a bone, how an illness began, a relative."""
_CONCEDED = re.compile(
    r"^(?:although|even though|though|despite|in spite of)\b(?:[^,;]|,(?=\d)){1,200},\s"
    r"(?=(?:s?he|his|her|it|they|there|the (?:patient|boy|girl|child|man|woman))\b)",
    re.IGNORECASE,
)
"""What a sentence grants before it says what was the matter."""
_OPENS = re.compile(
    r"\b(?:present(?:ed|ing) (?:to|with|for|at|in)|complain\w*|was (?:admitted|referred|brought)"
    r"|history of)\b",
    re.I,
)
_REOPENS = re.compile(
    r"\b(?:(?:was|were|been) re-?admitted|(?:presented|came|admitted) again|re-?presented"
    r"|returned (?:to (?:the|our)|with))\b(?!.{0,40}\bfor (?:an? |the |his |her )?(?:[\w-]+ )?"
    r"(?:reviews?|follow[- ]?up|surgery|operation|removal|closure|control|visits?)\b)",
    re.IGNORECASE,
)
"""A patient who comes back ill."""
_SOON = re.compile(r"\b(?:[\w-]+ )?(?:days?|hours?) (?:later|after(?=,))", re.IGNORECASE)
"""Says when, not that something is over."""
_LATER = re.compile(
    r"\b(?:follow[- ]?up|post-?operativ\w+|later|after (?:the )?(?:treatment|surgery|operation|therapy)"
    r"|at discharge|(?:one|two|three|four|five|six|\d+)[- ](?:day|week|month|year)s? (?:after|later"
    r"|post))\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:had (?:been )?\w+|previous\w*|prior|ago|history|earlier|elsewhere|another hospital"
    r"|outside hospital|regular)\b",
    re.I,
)
_LITTLE = 0.4
"""Less than what the sentence before gives."""
_STATED = 3
"""Weight of what the section title says, in words of a sentence."""


def title_role(titles: Sequence[str]) -> Role | None:
    """The role the innermost telling section title gives its text, None if the titles do not say."""
    for at, title in reversed([*enumerate(titles)]):
        if not at and read(title).kind is not Kind.MORE:
            break  # the title of the case itself
        for role, pattern in _TITLES:
            if pattern.search(title):
                return role
    return None


def role_of(sentence: str, before: Role | None, stated: Role | None) -> Role:
    """Role of one sentence.

    Args:
        sentence: its text.
        before: role of the sentence before it in the same case, None at the beginning.
        stated: role its section title gives.
    """
    if before is None and stated is None:
        return "presentation"
    told = _NO_TREATMENT.sub(" ", _CONCEDED.sub("", sentence))
    points: dict[Role, float] = {
        "presentation": len(_PRESENTATION.findall(sentence)),
        "findings": len(_FINDINGS.findall(sentence)),
        "course": len(_COURSE.findall(told)) + (_LITTLE if _GOES_ON.search(told) else 0.0),
    }
    if _OPENS.search(sentence) and before in {None, "presentation"}:
        points["presentation"] += 2
    if before == "presentation" and _EARLIER.search(sentence):
        points["course"] -= 2
    if _REOPENS.search(sentence):
        points["presentation"] += 3
    elif _LATER.search(_SOON.sub(" ", sentence)) and before != "presentation":
        points["course"] += 2
    if stated is not None:
        points[stated] += _STATED
    elif before is not None:
        points[before] += 0.5
    best = max(points.values())
    if not best:
        return before or stated or "presentation"
    order: tuple[Role, ...] = ("course", "findings", "presentation")
    return next(role for role in order if points[role] == best)
