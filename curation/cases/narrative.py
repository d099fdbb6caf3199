"""Whether text tells one patient's story: paragraph and sentence tests shared by layouts and the gate.

Each test is a documented list of words; none looks at the subject matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from curation.cases.patient import introduces
from curation.extract.sentences import Span, sentence_spans

_PATIENT = re.compile(
    r"\b(?:(?:the|our|this|index|my) (?:[\w-]+ )?(?:patient|case|boy|girl|child|infant|baby|neonate"
    r"|newborn|woman|man|lady|gentleman|proband|fetus|foetus|mother)(?:['’]s)?|s?he|his|her|him"
    r"|patient['’]s|paciente|la patiente|le patient|die patientin|der patient|(?:il|la) paziente)\b",
    re.IGNORECASE,
)
_ACTED = re.compile(
    r"\b(?:was|were|had|did|underwent|presented|complained|reported|denied|developed|received|started"
    r"|revealed|showed|showing|demonstrated|disclosed|performed|admitted|referred|discharged|treated"
    r"|died|recovered|improved|remained|became|noted|found|fue|foi|presentó|presentaba|apresentou"
    r"|apresentava|ingresó|se realizó|a présenté|avait|était|a été|wurde|hatte|presentava|era stato"
    r"|è stat[oa])\b",
    re.IGNORECASE,
)
_GENERAL = re.compile(
    r"\b(?:(?:is|are) (?:a|an|the|one|most|more|often|usually|commonly|rare|considered|associated"
    r"|characteri[sz]ed|known|defined|recommended|reported|based|not|thought)|can be|may (?:be|also"
    r"|have)|has been|have been|should be|occurs?|studies|authors|(?:previous|published) (?:case|report)"
    r"|literature|incidence|prevalence|et al|in \d+ (?:patients|cases)|of patients|patients (?:with|who"
    r"|had|were|are|may)|reports?|series)\b",
    re.IGNORECASE,
)
_CLOSING_START = re.compile(
    r"^(?:discussion\b|conclusions?\b|comments?[.:]|in (?:conclusion|summary)"
    r"|to (?:the best of )?our knowledge|this case (?:illustrates|highlights|demonstrates|emphasi[sz]es"
    r"|report|shows|underscores|represents|reminds|suggests)|(?:our|the present) (?:case"
    r"|report) (?:illustrates|highlights|demonstrates|emphasi[sz]es|shows|underscores|suggests)"
    r"|the (?:pathogenesis|etiology|aetiology|incidence|prevalence|literature)|several (?:studies"
    r"|authors|cases)|en conclusi[oó]n|em conclus[aã]o|discusi[oó]n|discuss[aã]o|zusammenfassend)",
    re.IGNORECASE,
)
_OF_REPORT = re.compile(r"(?:this|our|the present) (?:case )?report\b", re.IGNORECASE)
"""How a closing paragraph begins, and how a patient is introduced: "This case report presents a …"."""
_GROUP = re.compile(
    r"\b(?:we (?:enrolled|recruited|included|randomi[sz]ed|surveyed|retrospectively)|participants?"
    r"|respondents?|cohort|inclusion criteria|statistical(?:ly)?|p\s?[<=]\s?0?\.\d|mean age|median age"
    r"|(?:n\s?=\s?\d+)|questionnaires?|consensus|randomi[sz]ed|controls|confidence interval|95\s?% ci)\b",
    re.IGNORECASE,
)
_SHARED = re.compile(
    r"^(?:in )?(?:both|all(?: (?:of (?:the|our|these)|the|our|these|two|three|four|five))?|the (?:two"
    r"|three|four)|neither)(?: of)?(?: (?:the|our|these|two|three|four|five))*\s+(?:of the )?(?:patients"
    r"|cases|siblings|twins|children|brothers|sisters|girls|boys|women|men|pacientes|casos)\b",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"\b(?:et al\.?|previous(?:ly)? (?:reported|published) (?:case|patient)s?|in the literature"
    r"|case reports? (?:by|of|in which)|one study|another (?:case|study|report)|a (?:study|review"
    r"|case report|series) (?:by|of)|has been reported|have been reported)\b",
    re.IGNORECASE,
)


_OTHERS = (
    r"(?:patients|cases|women|men|girls|boys|children|infants|adults|individuals|people|persons|pregnancies)"
)
_ASIDE = re.compile(
    rf"\b\d+(?:\.\d+)?(?:\s?%|\s?percent)? of (?:all |the )?(?:[\w-]+ ){{0,4}}{_OTHERS}\b"
    r"|\b(?:have|has) (?:also |previously |rarely |only |never )?been (?:reported|described|documented)\b"
    r"|\bshould (?:always |also |therefore )?be (?:considered|suspected|included|borne|kept|sought)\b"
    r"|^(?:the |an? )?(?:[\w'-]+ ){1,6}(?:\([^()]*\) )?(?:is|are) (?:an? |the )?(?:[\w-]+,? ){0,3}"
    r"(?:rare|common|uncommon|chronic|benign|malignant|inherited|congenital|autosomal|self-limited|systemic"
    r"|multisystem|infectious|inflammatory)(?:,? [\w-]+){0,4} "
    r"(?:disease|disorder|condition|syndrome|entity|tumou?r|neoplasm|infection|complication)s?\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:we|i) (?:(?:here(?:in)?|hereby|now|also) )?(?:report|describe|present)(?:ed)? (?:the case of )?"
    r"an? (?:[\w-]+ ){0,3}(?:patient|case|wom[ae]n|m[ae]n|girl|boy|child|infant|newborn|neonate)"
    r" (?:who|whose)\b",
    re.IGNORECASE,
)


_ONE = re.compile(
    r"\b(?:an?|one|una?|uma?|une) (?:[\w-]+ ){0,3}"
    r"(?:patiente?|paciente|case|caso|wom[ae]n|m[ae]n|(?:fe)?male|boy|girl|child|infant|newborn|neonate)\b",
    re.IGNORECASE,
)


_WAS = re.compile(
    r"\b(?:was|were|had|underwent)\b(?! (?:first(?:ly)? |initially |originally )?(?:described|reported"
    r"|introduced|defined|named|coined)\b)|\b(?:fue|foi|a été|avait|wurden?|è stat[oa])\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One passage as the detector reads it.

    Args:
        order: position in reading order, continuations of later documents last.
        titles: section titles from the top down.
        section: section number in the article, -1 for a passage of a later document.
        citations: number of bibliographic references it links to.
    """

    id: str
    order: int
    text: str
    section: int
    titles: tuple[str, ...] = ()
    box: int = 0
    part: str = "body"
    kind: str = "paragraph"
    citations: int = 0
    sentences: tuple[Span, ...] = field(default=())

    def spans(self) -> Sequence[Span]:
        """Sentence spans, computed once by `with_sentences`, else on the spot."""
        return self.sentences or tuple(sentence_spans(self.text))


def closes(text: str) -> bool:
    """Whether a paragraph begins what follows a case: its discussion, a conclusion."""
    return bool(_CLOSING_START.match(text))


def reports(sentence: str) -> bool:
    """Whether a sentence begins to tell of a patient without an age: "We report a patient who …"."""
    return bool(_REPORTED.search(sentence))


def is_narrative(paragraph: Paragraph) -> bool:
    """Whether a paragraph tells of one patient rather than of a disease, a method or the literature."""
    text = paragraph.text
    if _CLOSING_START.match(text):
        return False
    told = len(_PATIENT.findall(text)) + len(_ACTED.findall(text))
    general = len(_GENERAL.findall(text)) + 2 * paragraph.citations + 2 * len(_FOREIGN.findall(text))
    return bool(_PATIENT.search(text)) and told > general


def is_general(paragraph: Paragraph) -> bool:
    """Whether a paragraph of a case section is surely about something else: the literature, a disease."""
    text = paragraph.text
    if _CLOSING_START.match(text):
        return not (_OF_REPORT.match(text) and _introduces_at_once(paragraph))
    if _PATIENT.search(text):
        return False
    general = len(_GENERAL.findall(text)) + 2 * paragraph.citations + 2 * len(_FOREIGN.findall(text))
    return general > 2 and general > 2 * len(_ACTED.findall(text))


def _introduces_at_once(paragraph: Paragraph) -> bool:
    """Whether the first sentence of a paragraph introduces a patient by age."""
    return any(introduces(paragraph.text[start:end]) for start, end in paragraph.spans()[:1])


def is_shared(text: str) -> bool:
    """Whether a paragraph begins with all patients of the report at once ("Both patients …")."""
    return bool(_SHARED.match(text))


def is_aside(sentence: str) -> bool:
    """Whether a sentence inside a case is of no patient: what a disease does, what others saw, advice.

    It must name no patient of the report; shares of groups and what is "reported" or "should be considered"
    tell it.
    """
    return _ASIDE.search(sentence) is not None and _PATIENT.search(sentence) is None


def tells(sentence: str) -> bool:
    """Whether a sentence refers to the patient of a case, to a patient, or tells what was done or was so."""
    if _PATIENT.search(sentence) or _ONE.search(sentence):
        return True
    return _WAS.search(sentence) is not None and _FOREIGN.search(sentence) is None


def mentions_patient(text: str) -> int:
    """How often a text refers to its one patient."""
    return len(_PATIENT.findall(text))


def group_words(text: str) -> int:
    """How often a text uses the words of studies of groups."""
    return len(_GROUP.findall(text))
