"""Sentences about the publication: consent and ethics review, money, interests, where data lie, who wrote.

Each test is a documented list of words; none looks at the subject matter.
"""

from __future__ import annotations

import re

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
_BOARD = re.compile(
    r"\bethic\w*(?: \w+){0,3} (?:committees?|boards?|approvals?|clearance|commission|standards|principles)\b"
    r"|\b(?:committees?|boards?|commission|approv\w*|clearance|accordance)(?: [\w']+){0,5}"
    r" (?:ethic\w*|[ée]tica)\b"
    r"|\b(?:comit[êé]s?|comiss[aã]o|comisi[oó]n)(?: \w+){0,2} (?:de |d['’])[ée]t(?:ica|hique)\b"
    r"|\banimal (?:\w+ ){0,3}(?:committees?|boards?|commission)\b|\biacuc\b"
    r"|\birb\b|\breview boards?\b|\bhelsinki\b|\bgood clinical practice\b",
    re.IGNORECASE,
)
_DESIGN = re.compile(
    r"\b(?:randomi[sz]ed|placebo|(?:double-|single-)?blind(?:ed)?|single-arm|open-label|phase (?:\d|i+)"
    r"|cohort|retrospective|prospective|cross-sectional|designed to|aged|diagnosed|toxicit\w+|right to"
    r"|compassionate|off-label|drugs?|given|transplant\w*)\b",
    re.IGNORECASE,
)
"""Words for how a study is made or what is done to a patient, which make a sentence one about the subject."""
_KEPT = re.compile(
    r"\b(?:adher\w*|compl(?:y|ied|ies)|follow(?:ed|ing|s)?|grant(?:ed|s)|obtained"
    r"|respeit\w*|respet\w*|submet\w*|somet\w*|autori[sz]\w*)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\b(?:obtain\w*|provid\w*|g[ai]ve\w*|sign\w*|waive\w*|requir\w*|need\w*|took|taken|asked|written|secured"
    r"|assin\w*|firm\w*|obt\w*|livre|libre)\b",
    re.IGNORECASE,
)
_LED_IN = re.compile(
    r"^(?:after|with|having|following|once|upon) (?:[^,;.]{0,60} )?"
    r"(?:consent|assent|approval)\b[^,;.]{0,40}, "
    r"(?=(?:the|this|an?|he|she|we|our|his|her|all|\d+) (?:\S+ ){3})",
    re.IGNORECASE,
)
"""What opens a sentence of something else: "After her consent, the patient received"."""
_OBTAINED = re.compile(
    r"^(?:(?:an?|the|written|signed|verbal|oral) |and )*informed consent (?:was|were|has been|had been) "
    r"(?:\w+ )?(?:obtained|given|provided|signed|taken)\b[^,;:]*$",
    re.IGNORECASE,
)
"""A sentence of nothing but that consent was obtained, whatever was done then."""
_TOLD_NEXT = re.compile(
    r"\b(?:and|but|who|which|then) (?:s?he|it|they|the|his|her|was|were|underwent)\b", re.IGNORECASE
)
_WORK = (
    r"(?:this|the|our|present|current|these) (?:\w+ )?"
    r"(?:work|study|studies|research|project|trial|paper|article|review)"
)
_FORMAL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_WORK} (?:was|were|is|has been|received) (?:\w+ ){{0,2}}"
        r"(?:support(?:ed)?|fund(?:ed|ing|s)?|financed|sponsored|financial)\b",
        r"\breceived no (?:\w+ ){0,2}(?:funding|grants?|(?:financial )?support)\b",
        r"\bno (?:\w+ ){0,2}(?:funding|financial support) (?:was|were|for|to)\b",
        r"\bfunders? (?:had|have|has|played|of the study)\b",
        r"\b(?:authors?|we|i) (?:\w+ ){0,2}(?:declare|report|disclose|state|have|has|certify)s?d?\b.{0,60}"
        r"\b(?:conflicts?|competing|interests?|nothing to)\b",
        r"\bno (?:\w+ ){0,3}(?:conflicts? of interests?|competing (?:\w+ )?interests?|disclosures)\b",
        r"\b(?:data|datasets?|codes?|scripts?|materials?|sequences?|files?)\b.{0,120}\b(?:available|deposited|accessible)\b"
        r".{0,40}(?:\brequest\b|\bcorresponding author|\brepositor|https?:|www\.|\bsupplement|\bonline\b"
        r"|within (?:the|this) (?:article|paper|manuscript)|\bgenbank\b|\baccession)",
        r"\b(?:authors?|we) (?:\w+ ){0,4}(?:thank|(?:are|is) (?:\w+ )?grateful|(?:are|is) indebted"
        r"|acknowledge (?:the )?(?:\w+ )?(?:support|help|assistance|contributions?|funding))\b",
        r"\ball (?:the )?(?:co-?)?authors (?:have )?(?:read|approved|contributed|reviewed|agree|made"
        r"|participated)\b",
        r"\bcontributed equally\b",
        r"\bpermissions?(?: letters?)? (?:was|were|has been) (?:obtained|secured|granted|sought)\b",
        r"\b(?:confidentiality|anonymity|privacy) .{0,60}\b(?:maintained|guaranteed|kept|assured)\b",
        r"\b(?:personal )?data protection\b|\bGDPR\b|\bconsent forms? (?:will|was|were|is|has|had|must)\b",
        r"\b(?:provided|given|signed|completed|received)(?: \w+){0,3} consent forms?\b",
        r"\bassent (?:was|were|forms?)\b",
        r"\b(?:trial|study|protocol|review|project)(?: protocol)? (?:was|is|has been)(?: \w+){0,2} "
        r"(?:pre-?)?registered\b|\b(?:trial|study|protocol|review) registration\b",
        r"^(?:the )?(?:\w+ )?supplementary (?:material|information|data|files?)\b.{0,80}"
        r"\b(?:https?:|online version|doi\b|found at)",
        r"\bonline version (?:of this article )?contains\b",
        r"^(?-i:(?:[A-Z][.-]+){2,4}|[A-Z]{2,4}(?:(?:, | and |, and |; )[A-Z]{2,4})+):? (?:have |has )?"
        r"(?:\w+ )?(?:conceiv|design|wrote|draft|perform|collect|analy[sz]|supervis|review|contribut"
        r"|participat|carried out)",
    )
)
"""Money, interests, where data lie, thanks, who did what."""
_HINTS = """
    ethics ethical ethic irb iacuc board boards committee committees helsinki practice consent consents
    einwilligung
    ética éticas ético éticos éthique comité comitê consentimento consentimiento consentement
    funded funding funder funders supported support financial financially financed sponsored
    conflict conflicts competing interest interests disclose disclosures nothing
    available deposited accessible thank thanks grateful indebted acknowledge authors contributed
    supplementary online scare care equator confidentiality anonymity privacy permission permissions
    protection gdpr assent registered preregistered pre-registered registration
    """
_HINT_WORDS = frozenset(_HINTS.split())
_SPACED = str.maketrans(dict.fromkeys(",.;:()[]’'/", " "))
"""One of these, or a name's initials, stands in nearly every sentence that is formal: cheap to ask first."""
_INITIALS = re.compile(r"(?:[A-Z][.-]+){2}|[A-Z]{2,4}(?:,| and\b)")


def is_consent(sentence: str) -> bool:
    """Whether a sentence states consent to publish, ethics review or a reporting guideline.

    It is told by what is consented to or reviewed: the report, not what is done to the patient.
    """
    sentence = _LED_IN.sub("", sentence)
    if _OBTAINED.match(sentence) and not _TOLD_NEXT.search(sentence):
        return True
    if _GUIDELINE.search(sentence) or (_PERMISSION.search(sentence) and _PUBLICATION.search(sentence)):
        return True
    is_formal = _CONSENT.search(sentence) or (_ETHICS.search(sentence) and _REVIEWED.search(sentence))
    return bool(is_formal) and not _CARE.search(sentence)


def hints(text: str) -> bool:
    """Whether a text may hold a formal sentence."""
    words = text.lower().translate(_SPACED).split()
    return not _HINT_WORDS.isdisjoint(words) or _INITIALS.match(text) is not None


def is_formal(sentence: str) -> bool:
    """Whether a sentence speaks of the publication or the permission for it, in any article."""
    sentence = _LED_IN.sub("", sentence)
    if any(pattern.search(sentence) for pattern in _FORMAL):
        return True
    is_ethics = _BOARD.search(sentence) and (_REVIEWED.search(sentence) or _KEPT.search(sentence))
    if (is_ethics or _GUIDELINE.search(sentence)) and not _DESIGN.search(sentence):
        return True
    is_agreed = _CONSENT.search(sentence) and _GIVEN.search(sentence)
    return bool(is_agreed) and not _CARE.search(sentence)
