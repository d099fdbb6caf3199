"""Sentences that state a case's final diagnosis: in its title, its keywords and its own text.

Explicit statements that agree with the title come first, then findings that name what the title names, then
explicit ones the title does not confirm. Negated, differential, earlier and family diagnoses never count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from schemas.case import Statement


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_FINAL = (
    r"final|definit(?:e|ive)|established|ultimate|confirmed|correct|eventual|discharge|post-?operative"
    r"|(?:histo)?pathologic(?:al)?|histologic(?:al)?|pathological definitive"
)
_PATHOLOGY = (
    r"(?:histo-?)?patholog\w+|histolog\w+|immunohistochem\w+|biops(?:y|ies)|cytolog\w+|autopsy"
    r"|post-?mortem|microscop\w+"
)
_MADE = r"made|established|confirmed|reached|rendered|given|concluded|achieved|secured|verified"
_EXPLICIT = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "final diagnosis",
            (
                rf"\b(?:{_FINAL})\s+diagnos[ie]s\s*(?:of|was|is|were|as|:|being|remained)(?!\s+(?:not"
                rf"|made|examined|based|unclear|delayed|done))"
            ),
        ),
        (
            "diagnosis made",
            (
                rf"\bdiagnos[ie]s\s+(?:of|as)\b.{{3,160}}?\b(?:was|were|is|been)\s+(?:\w+ly\s+|then\s+"
                rf"|thus\s+)?(?:{_MADE})\b"
            ),
        ),
        (
            "diagnosis made",
            (
                rf"\b(?:{_MADE}|making|confirming|establishing|supported|supporting)\s+(?:the|a"
                rf"|our)?\s*(?:\w+\s+)?diagnos[ie]s\s+of\b"
            ),
        ),
        (
            "diagnosis made",
            (
                r"\b(?:led|leading|lead|arrived?|came|pointed|allowed)\s+(?:us\s+)?(?:to|at)\s+(?:the"
                r"|a)\s+diagnos[ie]s\s+of\b"
            ),
        ),
        (
            "diagnosis was",
            (
                r"\b(?:the|our)\s+diagnos[ie]s\s+(?:was|is|were)\s+(?!(?:not|made|confirmed|unclear"
                r"|delayed|suspected|based|done|then|also|further)\b)"
            ),
        ),
        (
            "diagnosed with",
            (
                r"\b(?:was|were|is|been|be|being|and|then|we|finally|ultimately|subsequently|therefore"
                r"|thus|eventually)\s+(?:\w+ly\s+|then\s+)?diagnosed\s+(?:\w+ly\s+)?(?:with|as|to have"
                r"|having|by \w+ (?:as|with)|the|this|an?|probable)\b"
            ),
        ),
        (
            "was diagnosed",
            r"\b(?:was|were)\s+(?:\w+ly\s+|then\s+|thus\s+)?diagnosed(?=\s*(?:[.,;(]|$|and\b|based\b|on\b|by\b))",
        ),
        ("confirmed", r"\bconfirm(?:ed|ing|s|atory)?\b.{0,60}\b(?:diagnos[ie]s|presence of|to be)\b"),
        ("confirmed", r"\b(?:diagnos[ie]s|presence)\b.{0,120}\b(?:was|were|been)\s+(?:\w+ly\s+)?confirmed\b"),
        (
            "diagnóstico",
            (
                r"\bdiagn[oó]stico\s+(?:definitivo|final|histol[oó]gico|anatomopatol[oó]gico|de)\b"
                r"|\bse diagnostic[oó]\b|\bfoi diagnosticad[oa]\b|\bdiagnosticado (?:con|com)\b"
            ),
        ),
        (
            "diagnostic retenu",
            (
                r"\bdiagnostic\s+(?:définitif|final|retenu|de)\b|\ble diagnostic\b.{0,60}\b(?:retenu"
                r"|posé|confirmé)\b"
            ),
        ),
        ("Diagnose", r"\bdiagnose\s+(?:eines|einer|von|des|der)\b|\bdiagnostiziert\b"),
        ("diagnosi", r"\bdiagnosi\s+(?:definitiva|finale|di)\b"),
    )
)
_FINDING = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "pathology confirmed",
            (
                rf"\b(?:{_PATHOLOGY})\b.{{0,140}}\b(?:confirm\w*|diagnostic (?:of|for)|compatible with"
                rf"|consistent with|proved|proven|diagnos\w+)\b"
            ),
        ),
        (
            "pathology revealed",
            (
                rf"\b(?:{_PATHOLOGY})\b.{{0,140}}\b(?:reveal\w*|show(?:ed|ing|s)?|demonstrat\w+"
                rf"|disclos\w+|identif\w+|report\w*)\b"
            ),
        ),
        ("confirmed", r"\bconfirm(?:ed|ing|s)\b"),
        (
            "consistent with",
            (
                r"\b(?:consistent|compatible|in keeping|diagnostic|pathognomonic"
                r"|characteristic)\s+(?:with|of|for)\b"
            ),
        ),
        (
            "finding revealed",
            (
                r"\b(?:reveal\w*|show(?:ed|ing)|demonstrat\w+|disclos\w+|identified|detected|discovered"
                r"|indicat(?:ed|ing)|found|grew|isolated|yielded|evidenced?)\b"
            ),
        ),
    )
)
_HEDGED = re.compile(
    r"\b(?:was (?:strongly )?(?:considered|suspected)|suggest(?:ed|ing|ive)|signs of|probable|likely)\b", re.I
)
_UNSURE = re.compile(
    r"\b(?:differential|suspect\w*|suspicion|considered|provisional\w*|presumptive\w*|presumed"
    r"|preliminary|tentative\w*|working|initial(?:ly)? (?:\w+ )?diagnos\w+|(?:was|were|been) initially"
    r"|misdiagnos\w+|mistaken\w*|misinterpret\w*|erroneous\w*|possible|possibility|could be|might be"
    r"|may be|to rule out|ruled out|rule out|excluded?|excluding|diagn[oó]stico diferencial|sospech\w+"
    r"|suspeita|presuntivo|verdacht)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:no|not|without|negative(?:ly)? for|never|neither|absence of|unlikely|did not|failed to"
    r"|lack of|sin|sem|ohne)\b(?:(?!\band\b)[^,;]){0,40}$|\bno (?:signs?|evidence|\w+) of [^,;]{0,60}$",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|no|without|neither|failed)\b", re.IGNORECASE)
_NO_AFTER = re.compile(r"\W{0,2}(?:no|not|neither|nothing|nor|absence of|negative)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:previous(?:ly)?(?: been)? diagnos\w+|past medical|had been (?:previously )?diagnosed"
    r"|known (?:case|to have)|prior diagnos\w+|diagnosed (?:with .{3,60} )?(?:\w+ )?(?:years?"
    r"|months?) (?:ago|earlier|before|prior|previously)|at the age of|in (?:early )?(?:childhood"
    r"|infancy)|during (?:infancy|childhood)|since (?:the age|childhood|birth|\d{4})"
    r"|diagnos\w+\b.{0,60}\b(?:years?|months?) (?:ago|earlier|before|prior|previously)|antecedentes?)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(r"\bhistory of\b[^,;]*$", re.IGNORECASE)
_FAMILY = re.compile(
    r"\b(?:(?:his|her|their|(?:the )?(?:patient|child|boy|girl|infant|baby)['’]s) (?:\w+ )?(?:mother"
    r"|father|brother|sister|son|daughter|uncle|aunt|cousin|grand\w+|parents?|husband|wife|family)"
    r"|family history|relatives?)\b",
    re.IGNORECASE,
)
_TITLE_CUT = re.compile(
    r"\b(?:mimick\w+|masquerad\w+|simulating|misdiagnosed as|mistaken|resembling|imitating|rather than)\b.*",
    re.I,
)
_TITLE_GENERIC = re.compile(
    r"^(?:a |an )?(?:case reports?|report of .{0,30}cases?|case series|literature review"
    r"|review of (?:the )?literature)\W*$",
    re.IGNORECASE,
)
_GENERIC = _words(
    """
    about after acute adult against among associated atypical based before bilateral boy brief case
    cases child chronic clinical complicated complicating complication diagnosis diagnosed diagnostic
    during early effect elderly excision extensive extremely failure female first following follow from
    giant girl healthy history human identified imaging infant initial interesting large late leading
    left literature long male management manifestation massive mild mimicking multiple novel old outcome
    patient patients pediatric possible postoperative pregnancy presenting presentation primary probable
    procedure rapid rare recurrent related repair report reported reports resolution result resulting
    review revealed revealing right secondary series severe sign single spontaneous study subsequent
    successful successfully surgery surgical technique term therapy treated treatment type undergoing
    uncommon unilateral unique unusual using various with without woman year years young approach
    evaluation experience findings lesion lesions lessons learned mass patient's removal special
    """
)
"""Words of titles that say nothing of the disease."""
_DISEASE = re.compile(
    r"\w+(?:itis|omas?|os[ie]s|iasis|emia|penia|pathy|pathies|plasias?|trophy|megaly|stenosis|ectasia"
    r"|cele|edema|algia|plegia|uria|rrhage|rrhagia|rrhea|cytosis|philia|toxicity)|(?:asthma|diabetes"
    r"|tubercul\w+|myiasis|anemia|dystrophy|palsy|stroke)s?",
    re.IGNORECASE,
)
"""Words that name a disease by themselves."""
_KIND = re.compile(
    r"(?:syndrome|disease|disorder|deficiency|infection|infarct\w*|fistula|fracture|tumou?r|cancer|cyst"
    r"|hernia|rupture|injury|anomaly|malformation|aneurysm|ulcer|abscess|hemorrhage|haemorrhage|hematoma"
    r"|occlusion|dissection|perforation|torsion|fever|embolism|shock|neoplasm|ganglion|poisoning|loss)s?",
    re.IGNORECASE,
)
"""Words that name a kind of disease and need another word to say which."""
_KEYWORD_GENERIC = re.compile(r"\b(?:case|report|review|literature|series|caso|relato)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3,}")
_DECLARED = re.compile(r"\(([A-Z][A-Za-z]?[A-Z]{1,5})s?\)")
_STEM = 5
_NEAR = 300
"""Characters around a statement that can deny or date it; bounds the work on a sentence without end."""
_PLURAL = re.compile(r"(?:es|is|s)$")


@dataclass(frozen=True, slots=True)
class Topic:
    """What a report's title is about: stems of its content words, its disease words, its acronyms."""

    stems: frozenset[str]
    diseases: frozenset[str]
    kinds: frozenset[str]
    acronyms: frozenset[str]

    def agreement(self, sentence: str) -> int:
        """How well a sentence names the topic: 0 not, 1 in some word, 2 a disease of it."""
        words = _WORD.findall(sentence)
        forms = set(map(_form, words))
        others = {_stem(word) for word in words if _form(word) not in self.kinds} & self.stems
        if forms & self.diseases or self.acronyms & set(words) or (forms & self.kinds and others):
            return 2
        return 1 if others or forms & self.kinds else 0


def _stem(word: str) -> str:
    return word.lower()[:_STEM]


def _form(word: str) -> str:
    """A word without case, plural and the spellings British and American English differ in."""
    return _PLURAL.sub("", word.lower().replace("ae", "e").replace("oe", "e"))


def topic_of(title: str, text: str = "") -> Topic:
    """The topic of a title; acronyms count that `text` declares for words of it: "hearing loss (SNHL)"."""
    topic = _topic(title)
    declared = set()
    for found in _DECLARED.finditer(text):
        words = text[max(0, found.start() - 120) : found.start()].split()[-len(found[1]) - 2 :]
        long_form = " ".join(words)
        stems = {_stem(word) for word in _WORD.findall(long_form)} & topic.stems
        if topic.agreement(long_form) > 1 or len(stems) > 1:
            declared.add(found[1])
    return replace(topic, acronyms=topic.acronyms | declared)


def _topic(title: str) -> Topic:
    content = [word for word in _WORD.findall(title) if len(word) > 3 and word.lower() not in _GENERIC]
    initials = "".join(word[0] for word in re.split(r"[\s-]+", title) if word[:1].isalpha()).upper()
    kinds = [word for word in _WORD.findall(title) if _KIND.fullmatch(word)]
    return Topic(
        stems=frozenset(_stem(word) for word in content if word not in kinds),
        diseases=frozenset(_form(word) for word in content if _DISEASE.fullmatch(word)),
        kinds=frozenset(map(_form, kinds)),
        acronyms=frozenset(
            initials[at : at + size] for size in (3, 4, 5) for at in range(len(initials) - size + 1)
        ),
    )


def is_disease(term: str) -> bool:
    """Whether a word of a term ends the way names of diseases do."""
    return any(_DISEASE.fullmatch(word) or _KIND.fullmatch(word) for word in _WORD.findall(term))


def in_title(title: str) -> Iterator[Statement]:
    """The title of a report: it names what the report is about, up to what the disease only looked like."""
    cut = _TITLE_CUT.search(title)
    end = len((title[: cut.start()] if cut else title).rstrip(" -–—:,"))
    if end > 3 and not _TITLE_GENERIC.match(title[:end]):
        yield Statement(place="title", start=0, end=end, text=title[:end], rule="case title")


def in_keywords(keywords: Sequence[str], others: Iterable[Statement]) -> Iterator[Statement]:
    """Keywords that name a disease and whose words all stand in the title or in one statement of the text."""
    texts = [{_stem(word) for word in _WORD.findall(statement.text)} for statement in others]
    acronyms = {word for statement in others for word in _WORD.findall(statement.text) if word.isupper()}
    for keyword in dict.fromkeys(keywords):
        stems = {_stem(word) for word in _WORD.findall(keyword)}
        if not stems or _KEYWORD_GENERIC.search(keyword) or not is_disease(keyword):
            continue
        initials = "".join(word[0] for word in keyword.split()).upper()
        if any(stems <= text for text in texts) or initials in acronyms:
            yield Statement(place="keyword", start=0, end=len(keyword), text=keyword, rule="keyword restated")


def select(sentences: Sequence[str], topic: Topic) -> list[tuple[int, str]]:
    """Positions and rules of the sentences of one case that state its final diagnosis.

    Args:
        sentences: the sentences of the case, in order.
        topic: what the report's title is about.
    """
    explicit = _ruled(sentences, _EXPLICIT)
    agreeing = [(at, rule) for at, rule in explicit if topic.agreement(sentences[at])]
    if agreeing:
        return agreeing
    named = [(at, rule) for at, rule in _ruled(sentences, _FINDING) if topic.agreement(sentences[at]) > 1]
    if named:
        ranks = [name for name, _ in _FINDING]
        return [min(named, key=lambda item: (ranks.index(item[1]), item[0]))]
    if telling := [(at, rule) for at, rule in explicit if rule != "confirmed"]:
        return telling[-1:]
    hedged = [at for at, text in enumerate(sentences) if topic.agreement(text) > 1 and _HEDGED.search(text)]
    if hedged:
        return [(hedged[-1], "hedged")]
    return [(at, rule) for at, rule in _ruled(sentences, _FINDING[:2]) if is_disease(sentences[at])][-1:]


def _ruled(sentences: Sequence[str], rules: Sequence[tuple[str, re.Pattern[str]]]) -> list[tuple[int, str]]:
    return [(at, rule) for at, text in enumerate(sentences) if (rule := _rule(text, rules))]


def _rule(sentence: str, rules: Sequence[tuple[str, re.Pattern[str]]]) -> str:
    """Name of the rule by which a sentence states a diagnosis as established, '' if it does not."""
    for name, pattern in rules:
        for found in pattern.finditer(sentence):
            clause = _clause(sentence, found.start(), found.end())
            before = sentence[max(0, found.start() - _NEAR) : found.start()]
            is_open = _UNSURE.search(clause) or _PAST.search(clause) or _FAMILY.search(clause)
            is_denied = _DENIED.search(found.group()) or _NO_AFTER.match(
                sentence[found.end() : found.end() + 30]
            )
            if not is_open and not is_denied and not _NEGATED.search(before) and not _HISTORY.search(before):
                return name
    return ""


def _clause(sentence: str, start: int, end: int) -> str:
    """The part of a sentence between semicolons, "but" and relative clauses that holds a match."""
    first, last = max(0, start - _NEAR), min(len(sentence), end + _NEAR)
    marks = ((mark, sentence.rfind(mark, first, start)) for mark in ("; ", " but ", " however "))
    left = max((at + len(mark) for mark, at in marks if at >= 0), default=first)
    ends = (sentence.find(mark, end, last) for mark in ("; ", " but ", ", which ", ", although "))
    return sentence[left : min((at for at in ends if at >= 0), default=last)]
