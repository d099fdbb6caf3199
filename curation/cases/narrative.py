"""Whether text tells one patient's story: paragraph and sentence tests shared by layouts and the gate.

Each test is a documented list of words; none looks at the subject matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

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
_CONSENT = re.compile(
    r"\b(?:(?:informed|written|verbal|oral|signed) (?:\w+ )?consent|consent (?:was|has been|had been|is)"
    r"|consentimiento|consentimento|consentement|einwilligung)\b",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:consent\w*|permission|permit\w*|agree\w*|authori[sz]\w*|approv\w*|allow\w*|objection|autoriza\w*"
    r"|informed|told|einwilligung)\b",
    re.IGNORECASE,
)
_PUBLICATION = re.compile(
    r"\b(?:publi(?:sh|cation|car|caci|caç)\w*|(?:this|the|present|our) (?:case )?(?:report|article|manuscript"
    r"|paper|study)|report(?:ing)?(?: of)?(?: the| this| individual| single)? cases?|participat\w+"
    r"|case reports?|veröffentlichung)\b",
    re.IGNORECASE,
)
_ETHICS = re.compile(
    r"\b(?:ethic(?:s|al)|[ée]tica|[ée]thique|(?:institutional|hospital) (?:review )?(?:board|committee)"
    r"|irb|helsinki)\b",
    re.IGNORECASE,
)
_REVIEWED = re.compile(
    r"\b(?:approv\w*|clearance|waive\w*|exempt\w*|requir\w*|need(?:ed)?|standards?|accordance|according"
    r"|declaration|review(?:ed)?|conform\w*|aprova\w*|aproba\w*|approuv\w*)\b",
    re.IGNORECASE,
)
_GUIDELINE = re.compile(
    r"\bS?CARE\b.{0,20}\b(?:guidelines?|criteria|checklist|statement|recommendations?)|\bEQUATOR\b"
)
_CARE = re.compile(
    r"\b(?:surg\w+|operat(?:ion|ed|ing)\w*|treat\w+|therap\w+|chemo\w*|transfus\w+|\w+scopy|\w+ectomy|\w+plasty"
    r"|\w*puncture|resect\w*|biops\w+|under(?:go|went|took)\w*|\w*thrombolysis|placed|performed|carried out"
    r"|dialysis|an(?:a)?esthe\w+|autopsy|infusions?|intervention|compassionate|off-label|withdr\w+|transplant\w*"
    r"|refus\w*|declin\w*|started|begun|drug|given for|implant\w*|injection|limited)\b",
    re.IGNORECASE,
)
"""What is done to a patient, to which he may consent and an ethics committee may have something to say."""
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
        return True
    if _PATIENT.search(text):
        return False
    general = len(_GENERAL.findall(text)) + 2 * paragraph.citations + 2 * len(_FOREIGN.findall(text))
    return general > 2 and general > 2 * len(_ACTED.findall(text))


def is_consent(sentence: str) -> bool:
    """Whether a sentence states consent to publish, ethics review or a reporting guideline.

    It is told by what is consented to or reviewed: the report, not what is done to the patient.
    """
    if _GUIDELINE.search(sentence) or (_PERMISSION.search(sentence) and _PUBLICATION.search(sentence)):
        return True
    is_formal = _CONSENT.search(sentence) or (_ETHICS.search(sentence) and _REVIEWED.search(sentence))
    return bool(is_formal) and not _CARE.search(sentence)


def is_shared(text: str) -> bool:
    """Whether a paragraph begins with all patients of the report at once ("Both patients …")."""
    return bool(_SHARED.match(text))


def mentions_patient(text: str) -> int:
    """How often a text refers to its one patient."""
    return len(_PATIENT.findall(text))


def group_words(text: str) -> int:
    """How often a text uses the words of studies of groups."""
    return len(_GROUP.findall(text))
