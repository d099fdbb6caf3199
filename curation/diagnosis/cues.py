"""The language of diagnosis: how a sentence of a case report states a disease, and what takes it back.

A cue is a verb or noun with a side: what it states stands after it ("revealed X"), before it ("X was found"),
from it on or anywhere in its clause ("the diagnosis of X was made"). Doubt, denial and the past take it back.
"""

from __future__ import annotations

import re

from curation.diagnosis import languages
from curation.diagnosis.cue import cue

_ADVERB = r"(?:(?:\w+ly|then|thus|also|later|now|still|further|first|therefore|thereby|hence|again)\s+){0,2}"
_WAS = rf"\b(?:was|were|is|are|has been|have been|had been|be|being|been)\s+{_ADVERB}"
_FINAL = (
    r"final|definit(?:e|ive)|established|ultimate|confirmed|correct|eventual|discharge|post-?operative"
    r"|conclusive"
    r"|(?:histo)?pathologic(?:al)?|histologic(?:al)?|pathological definitive|pathology|molecular|genetic"
    r"|microbiologic(?:al)?|main|principal|primary|actual|true|precise|exact|cytologic(?:al)?"
    r"|clinicopathologic(?:al)?"
)
_MADE = (
    r"made|established|confirmed|reached|rendered|given|concluded|achieved|secured|verified|set|retained"
    r"|drawn"
    r"|obtained|proven|proved|supported|validated|ascertained|determined|clear|corroborated|clinched"
    r"|settled|agreed(?: up)?on"
)
_MAKE = (
    r"(?:made|making|makes?|established?|establishing|establishes|confirm(?:ed|s|ing)?|reach(?:ed|ing)"
    r"|render(?:ed|ing)|support(?:ed|ing|s)|secur(?:ed|ing)|prov(?:ed|ing)|achieved|obtained|verified"
    r"|carried"
    r"|received|given|warrant(?:ed|ing)|fulfill?ed (?:the )?(?:\w+ )?criteria for|allow(?:ed|ing)"
    r"|yield(?:ed|ing)"
    r"|gave|giving|clinched|validated|corroborated|consistent with|compatible with|in keeping with"
    r"|in line with)"
)
_PATHOLOGY = (
    r"(?:histo-?|immuno-?histo)?patholog\w+|histolog\w+|immuno-?(?:histo|cyto)?chem\w+|immunostain\w*"
    r"|biops(?:y|ies)(?! (?:forceps|needles?|punch|channel|ports?|sites?|tracts?|guns?|wounds?))"
    r"|cytolog\w+|autopsy|necropsy|post-?mortem|microscop\w+|aspirat\w+|smears?|specimens?|frozen section"
    r"|immunofluorescence|bone marrow|flow cytometry|curettage|fna[bc]?"
)
_LABORATORY = (
    r"(?:blood |urine |sputum |stool |tissue |fluid |wound |csf |bacterial |fungal )?cultures?|pcr"
    r"|polymerase"
    r"|sequenc\w+|serolog\w+|genetic (?:test\w*|analys\w+)|exome|karyotyp\w+|microarray|gram stain\w*"
    r"|antibod\w+|antigens?|elisa|western blot|electrophoresis|maldi\S*|toxicolog\w+|assays?"
)
_OPERATION = (
    r"laparotomy|laparoscop\w+|thoracotomy|thoracoscop\w+|intra-?operativ\w+|exploration|at surgery"
    r"|operative"
    r"|during (?:the )?(?:surgery|operation)|surgical (?:exploration|findings)|arthroscop\w+|endoscop\w+"
    r"|colonoscop\w+|gastroscop\w+|bronchoscop\w+|cystoscop\w+|hysteroscop\w+|angiogra\w+|arteriogra\w+"
)
_SHOWED = (
    r"reveal(?:ed|s|ing)?|show(?:ed|s|ing)|demonstrat(?:ed|es?|ing)|disclos(?:ed|es|ing)|identif(?:ied"
    r"|ies|ying)"
    r"|detect(?:ed|s|ing)|evidenc(?:ed|es|ing)|depict(?:ed|s|ing)|display(?:ed|s|ing)|exhibit(?:ed|s|ing)"
    r"|uncover(?:ed|ing)|document(?:ed|s|ing)|visuali[sz](?:ed|es|ing)|delineat(?:ed|es|ing)|yield(?:ed|s"
    r"|ing)"
    r"|grew|grow(?:n|s)|isolated|found|discover(?:ed|ing)|indicat(?:ed|es|ing)|highlight(?:ed|ing)"
    r"|reported(?= (?:an?|the|as|to be|\w+(?:oma|itis|osis)))"
    r"|noted|describ(?:ed|ing)|unveil(?:ed|ing)|recogni[sz]ed|reported to be|illustrat(?:ed"
    r"|ing)"
    r"|contain(?:ed|ing)|present(?:ed)? (?:as|features of)|conclud(?:ed|ing)|return(?:ed)? (?:as|with)"
    r"|came back (?:as|with)"
    r"|objectiv(?:ed|ated)|interpreted as|read as|classified as|(?:was|were) (?:an?|the)\b"
)
_SEEN = (
    r"confirmed|detected|identified|found|seen|noted|observed|discovered|established|demonstrated"
    r"|visuali[sz]ed"
    r"|documented|revealed|proven|proved|isolated|encountered|shown|recogni[sz]ed|present|evident|verified"
    r"|disclosed|evidenced|appreciated|apparent|cultured|recovered|unequivocal|obvious|uncovered|positive|reactive"
)

EXPLAINED = "explained by"
"""What says as often why a thing was done as what the patient has: a title has to name the disease."""
EXPLICIT = (
    cue(
        "final diagnosis",
        "from",
        rf"\b(?:{_FINAL})\s+(?:\w+\s+)?(?:diagnos[ie]s|impression)\s*(?:of|was|is|were|as|:|-|being"
        rf"|remained|revealed"
        rf"|showed|consistent|confirmed|indicated)(?!\s+(?:not|made|examined|based|unclear|delayed|done"
        rf"|pending))",
    ),
    cue(
        "diagnosis made",
        "from",
        rf"\bdiagnos[ie]s\s+(?:of|as)\b.{{3,200}}?{_WAS}(?:{_MADE})\b",
        doubtable=False,
    ),
    cue(
        "diagnosis made",
        "from",
        rf"\b{_MAKE}\s+(?:\w+\s+)?(?:the|an?|our|this|his|her"
        rf"|their)?\s*(?:[\w-]+\s+){{0,3}}diagnos[ie]s\s+(?:of|as|to be)\b",
        doubtable=False,
    ),
    cue(
        "diagnosis made",
        "from",
        r"\b(?:le[da]d?|leading|arriv(?:ed?|ing)|came|coming|pointed|pointing|allowed|prompted|resulted"
        r"|resulting"
        r"|contributed|oriented|guided|concluded|permitted)\s+(?:us\s+|\w+ly\s+)?(?:to|at|in"
        r"|towards?)?\s*(?:the|an?|our"
        r"|this|making|establishing|make|establish|reach)?\s*(?:the "
        r"|a )?(?:[\w-]+\s+){0,3}diagnos[ie]s\s+(?:of|as)\b",
    ),
    cue(
        "diagnosis carried",
        "from",
        r"\b(?:with|under|given|due to|because of|for|by|on)\s+(?:the|an?"
        r"|this)\s+(?:[\w-]+\s+){0,2}diagnos[ie]s of\b",
    ),
    cue(
        "diagnosis was",
        "from",
        r"\b(?:the|our|a|his|her|final|clinical)\s+(?:[\w-]+\s+){0,2}diagnos[ie]s\s+(?:was|is|were|became"
        r"|turned out to be)\s+"
        r"(?!(?:\w+ly )?(?:not|made|confirmed|established|reached|supported|unclear|delayed|suspected"
        r"|based|done|then|also|further|still|unknown|difficult|missed)\b)",
    ),
    cue(
        "diagnosed with",
        "from",
        r"\b(?:was|were|is|been|be|being|and|then|we|finally|ultimately|subsequently|therefore|thus"
        r"|eventually"
        r"|later|hence|who|patient|pathologists?|lesion|it|tumou?r)\s+(?:\w+ly\s+|then\s+|thus\s+|also\s+"
        r"|later\s+){0,2}diagnosed\s+"
        r"(?:(?:the|this|our|her|his|him) (?:patient|child|lesion|tumou?r|case|condition"
        r"|mass)?\s*)?(?:\w+ly\s+)?"
        r"(?:with|as|to have|to be|having|by [\w\s-]{2,40}? (?:as|with)|in \w+ (?:as|with)|the|this|an?"
        r"|probable)\b",
    ),
    cue(
        "diagnosed with",
        "from",
        r"(?:^|[,;(]\s*)(?:\w+ly\s+)?diagnos(?:ed|ing|tic)\s+(?:with|as|of|for|an?)\b",
    ),
    cue(
        "diagnosed with",
        "from",
        rf"\b(?:we|radiologists?|pathologists?|dermatologists?|surgeons?|physicians?|team)\s+{_ADVERB}diagnosed\s+"
        r"(?!(?:and|by|in|at|on|two|three|four|\d+)\b)",
    ),
    cue(
        "was diagnosed",
        "clause",
        rf"{_WAS}diagnosed(?=\s*(?:[.,;:(]|$|and\b|based\b|on\b|by\b|after\b|in\b|following\b|at\b|via\b"
        rf"|through\b"
        rf"|from\b|during\b|using\b|according\b|histolog\w+|clinical\w+))",
    ),
    cue(
        "confirmed",
        "clause",
        r"\bconfirm(?:ed|ing|s|atory)\b.{0,80}\b(?:diagnos[ie]s|presence of|to be|suspicion|impression)\b",
        doubtable=False,
    ),
    cue(
        "confirmed",
        "clause",
        rf"\b(?:diagnos[ie]s|presence|suspicion|impression|nature)\b.{{0,160}}?{_WAS}(?:confirmed|proven"
        rf"|verified)\b",
        doubtable=False,
    ),
    *languages.EXPLICIT,
)
"""Statements that say by their words that a diagnosis was reached."""

FINDING = (
    cue(
        "diagnosis named",
        "before",
        r"\b(?:was|is|were|proved|became|remained)\s+(?:\w+\s+)?(?:the|our|his|her|their)\s+(?:\w+\s+)?diagnos[ie]s\b",
    ),
    cue(
        "diagnosis named",
        "after",
        r"\b(?:clinch|seal|settl|secur|nail|mak|giv|reveal|yield|confirm|establish)(?:ed|es|s|e|ing)?\s+(?:the|our)\s+"
        r"(?:\w+\s+)?diagnosis\s*[:–—-]",
    ),
    cue(
        "diagnosis named",
        "after",
        r"\bconclu(?:ded|de|sion (?:was|is))(?:\s+\w+)?\s+that\s+(?:\w+\s+){1,3}?"
        r"(?:suffer(?:ed|s)?\s+from|had|has|was|is)\b",
    ),
    cue(
        "concluded",
        "after",
        r"^(?:thus|therefore|hence|so|finally|ultimately|in the end|in retrospect)\b[^.;]{0,40}?"
        r"\b(?:had|has|suffered from|was suffering from)\b",
    ),
    cue(
        "concluded",
        "after",
        r"\b(?:this|it|the (?:mass|lesion|tumou?r|nodule|disease|illness|cause|culprit|problem|growth))"
        r" (?:was|proved)"
        r"(?: (?:in fact|therefore|thus|indeed|really|actually))?(?: to be)?(?= (?:an? |the )?[\w-]+)"
        r"(?! (?:(?:\w+ly|then|also|not|first|later) )*[a-z]+(?:ed|en|wn|ne|nt|ade|ound|ought|ut|ept)"
        r" (?:for|to|by|with|in|on|at|from|into|out|up|off|and|after|before|under|during|due)\b)",
    ),
    cue(
        "criteria met",
        "clause",
        r"\bcriteri(?:a|on)\s+(?:for|of)\b[^;.]{3,100}?\b(?:met|fulfil\w*|satisf\w+)\b",
    ),
    cue(
        "pathology confirmed",
        "after",
        rf"\b(?:{_PATHOLOGY}|{_LABORATORY}|{_OPERATION})\b.{{0,160}}?\b(?:confirm(?:ed|s|ing)"
        rf"|diagnostic (?:of|for)"
        rf"|compatible with|consistent with|in keeping with|in favou?r of|indicative of|suggestive of"
        rf"|typical of"
        rf"|characteristic of|representing|correspond\w* (?:to|with)|proved|proven|diagnosed|positive for)",
        doubtable=False,
    ),
    cue(
        "pathology revealed",
        "after",
        rf"\b(?:{_PATHOLOGY}|{_LABORATORY}|{_OPERATION})\b.{{0,160}}?\b(?:{_SHOWED}|was|were)\b",
    ),
    cue("case of", "after", r"\b(?:was|is|as|be) (?:an? )?(?:[\w-]+ ){0,2}case of\b"),
    cue(
        "criteria met",
        "after",
        r"\b(?:met|meets?|meeting|fulfil\w*|satisf\w+)\b[^,;.]{0,60}\bcriteri(?:a|on)\b",
    ),
    cue(
        "turned out to be",
        "clause",
        r"\b(?:(?:turned out|proved|proven|shown|confirmed|found|deemed|determined)\s+to be"
        r"|(?:proved|proven|shown|confirmed|determined|found)\s+to have)\b",
    ),
    cue(
        "diagnosis named",
        "after",
        r"\b(?:labell?ed|staged|classified|categori[sz]ed|recogni[sz]ed|interpreted|concluded|established"
        r"|defined)\s+(?:as|to be)\b",
    ),
    cue(
        "confirmed",
        "after",
        r"\b(?:confirm(?:ed|ing|s)|prov(?:ed|ing|en)|verified|establish(?:ed|ing|es))\b"
        r"|\b(?:was|were) (?:those|that) of\b",
        doubtable=False,
    ),
    cue(
        "confirmed",
        "before",
        rf"{_WAS}(?:\w+ \w+ )?(?:confirmed|proven|verified|established|diagnosed)\b",
        doubtable=False,
    ),
    cue(
        "consistent with",
        "after",
        r"\b(?:consistent|compatible|in keeping|in line|in agreement|in accordance|diagnostic"
        r"|pathognomonic|characteristic|typical"
        r"|classical?"
        r"|indicative|in favou?r|corresponding|evidence|positive|representing|represented)"
        r"\s*(?:with|of|for|to|by|an?\b)",
    ),
    cue(
        EXPLAINED,
        "after",
        r"\b(?:(?:attributable|attributed|secondary|due) to|caused by|(?:features|picture|signs) of)\b",
    ),
    cue(
        "diagnosis named",
        "clause",
        r"(?<!before )(?<!prior to )(?<!time of )(?<!since )(?<!after )(?<!delay in )(?<!delayed )"
        r"(?<!missed )"
        r"\bdiagnos(?:[ie]s|ing|ed (?:case|patient))\b(?! (?:was|is) (?:missed|delayed|unclear|difficult))",
    ),
    cue("finding revealed", "after", rf"\b(?:{_SHOWED}|there (?:was|were))\b"),
    cue("finding seen", "before", rf"{_WAS}(?:{_SEEN})\b|\bgrew (?:from|in|on|out)\b"),
    *languages.FINDING,
)
"""Findings that state a diagnosis if they name the disease the report is about."""
STRONG = frozenset(
    {
        "pathology confirmed",
        "pathology revealed",
        "confirmed",
        "consistent with",
        EXPLAINED,
        "turned out to be",
        "diagnosis named",
        "case of",
        "criteria met",
        "concluded",
    }
)

EVENT = cue(
    "developed",
    "after",
    r"\b(?:develop(?:ed|ing)|sustain(?:ed|ing)|suffer(?:ed|ing)(?: from)?|experienc(?:ed|ing)|had|has"
    r"|with|diagnosed"
    r"|present(?:ed|ing) (?:with|for|to)|(?:referred|admitted|treated|hospitali[sz]ed|evaluated"
    r"|seen) (?:\w+ ){0,4}?(?:for|with|because of|due to))\b",
)
"""What befell the patient; counts where nothing states the diagnosis as one."""

BEFELL = cue(
    "developed",
    "after",
    r"\b(?:develop(?:ed|ing)|sustain(?:ed|ing)|suffer(?:ed|ing)(?: from)?|experienc(?:ed|ing)"
    r"|contracted|affected by|complicated (?:by|with)|progressed to|succumbed to)\b",
)
"""The part of it that says that it came."""

HEDGED = re.compile(
    r"\b(?:was (?:strongly |highly )?(?:considered|suspected)|suggest(?:ed|ing|s|ive)|signs of"
    r"|probabl[ey]|likely"
    r"|suspicion|suspected|impression|presumed|presumptive|concern(?:ing)? (?:for|of)|thought to"
    r"|believed to"
    r"|appeared to|attributed to)\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:differential|suspect\w*|suspicion|considered|provisional\w*|presumptive\w*|presumed"
    r"|preliminary|tentative\w*|working|initial(?:ly)? (?:\w+ )?diagnos\w+|(?:was|were|been) initially"
    r"|misdiagnos\w+|mistaken\w*|misinterpret\w*|erroneous\w*|possible|possibility|could be|might be"
    r"|unlikely"
    r"|likely|may be|to (?:rule|confirm|establish|exclude|make)|ruled out|rule out|ruling out|excluded?"
    r"|excluding"
    r"|(?:radiologic(?:al)?|radiographic|pre-?operative|sonographic|admi(?:ssion|tting)|referr(?:al|ing)"
    r"|working"
    r"|first|primary care|outside|local hospital) (?:\w+ )?diagnos[ei]s"
    rf"|if|whether|question of|concern\w*|{languages.DOUBT})\b",
    re.IGNORECASE,
)
"""What leaves a diagnosis open or takes it back, in the clause of its cue."""
FIRM_DOUBT = re.compile(
    r"\b(?:differential|misdiagnos\w+|mistaken\w*|misinterpret\w*|erroneous\w*|unlikely|ruled out"
    r"|rule out|excluded"
    r"|(?:was|were|been) initially|initial(?:ly)? (?:\w+ )?diagnos\w+|to (?:rule|exclude|confirm|establish)"
    r"|(?:presumptive|provisional|preliminary|tentative|working|suspected) (?:\w+ ){0,2}diagnos[ie]s)\b",
    re.IGNORECASE,
)
"""The part of it that stands even beside "confirmed"."""
OPEN = re.compile(r"\b(?:differential|unlikely|misdiagnos\w+|diagn[oó]stico diferencial)\b", re.IGNORECASE)
"""What leaves all diseases of a clause open."""
SUSPECTED = re.compile(
    r"\b(?<!the )(?:suspect|suspected|suspicious|suspicion|concerning|worrisome|worrying) (?:for|of)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What is only suspected of something that was confirmed: "confirmed a mass suspicious for"."""
EXCLUSION = re.compile(
    r"\b(?:other|alternative|remaining|common|differential|secondary|infectious|competing)\b[^,;.]{0,80}?"
    r"\b(?:excluded|ruled out)\b|\b(?:after|by) (?:exclusion|excluding|ruling out"
    r"|the exclusion)\b[^,;.]{0,80}",
    re.IGNORECASE,
)
"""Exclusion of other diseases, which leaves no doubt on the one stated beside it."""
DEFINITE = re.compile(r"\b(?:the|this|that|these|those|both)\s+(?:[\w-]+\s+)?[\w-]+", re.IGNORECASE)
"""Something the reader knows of: a finding that names it so only adds to it."""
ELSEWHERE = re.compile(
    r"\b(?:another|other|local|outside|outlying|referring|private|district|rural|peripheral|regional|previous"
    r"|first|surgical|primary|community) (?:[\w-]+ )?"
    r"(?:hospitals?|cent(?:re|er)s?|clinics?|facilit(?:y|ies)|institutions?"
    r"|departments?|units?|physicians?|doctors?|practitioners?|dermatologists?|specialists?|services?)\b"
    r"|\belsewhere\b|\bfamily (?:doctor|physician)s?\b|\bgeneral practitioners?\b|\bGPs?\b|\bprimary care\b"
    r"|\b(?:he|she|it|they|patient|who|that|this|which|symptoms?) had (?:\w+ly )?(?:been )?(?:\w+ly )?"
    r"(?:diagnosed|prescribed|treated|labell?ed|told|attributed|interpreted|considered|regarded|seen|given)\b"
    r"|\bbefore (?:the|this|that|his|her|their) (?:visit|admission|referral|presentation|consultation)\b"
    r"|\b(?:weeks?|months?|years?) (?:before|earlier|ago|previously|prior)\b"
    r"|\b(?:initial(?:ly)?|at first|first) (?:\w+ly )?"
    r"(?:diagnos|label|treat|interpret|attribut|regard|consider)\w*",
    re.IGNORECASE,
)
"""What was thought elsewhere, or before the patient came."""
FOLLOW_UP = re.compile(
    r"\b(?:follow[- ]?up|post-?operative(?:ly)?|(?:days?|weeks?|months?|years?) (?:later|after)"
    r"|after (?:the )?(?:treatment"
    r"|surgery|operation)|improve\w*|resol\w+|regress\w*|disappear\w*|decreas\w+)\b",
    re.IGNORECASE,
)
"""The course of what is known already."""
UNAFFIRMED = re.compile(
    r"\b(?:no|not|without|negative(?:ly)? for|never|neither|nor|absence of|rather than|instead of|lack of"
    r"|failed to"
    r"|rul(?:ed?|ing) out|exclu(?:ded?|ding)|sin|sem|ohne"
    r"|(?:risk|histor(?:y|ies)|suspicion|possibility|fear|treatment|management|therapy|prophylaxis"
    r"|screen(?:ing|ed)?|surgery|operation|repair|excision|resection|removal|recurrence|resolution"
    r"|exten[ts]\w*|severity|regression|improvement)"
    r"(?: of| for)\b|previous(?:ly)?|prior(?! to))\b(?:(?!\b(?:and|but|was|were|is|are|has|had|who|which"
    r"|that|presented"
    r"|revealed|showed|confirmed|underwent|developed)\b)[^,;.:])*",
    re.IGNORECASE,
)
"""Stretches that name a disease without stating it: denied, feared, treated, past."""
DENIED = re.compile(r"\b(?:not|no|without|neither|failed|cannot)\b", re.IGNORECASE)
NO_AFTER = re.compile(r"\W{0,2}(?:no|not|neither|nothing|nor|absence of|negative)\b", re.IGNORECASE)
NEGATED = re.compile(
    r"\b(?:no|not|without|negative(?:ly)? for|never|neither|absence of|unlikely|did not|failed to"
    r"|lack of|sin|sem|ohne)\b(?:(?!\band\b)[^,;]){0,40}$|\bno (?:signs?|evidence|\w+) of [^,;]{0,60}$",
    re.IGNORECASE,
)
PAST = re.compile(
    r"\b(?:previous(?:ly)?(?: been)? diagnos\w+|past medical|had been (?:previously )?diagnosed"
    r"|known (?:case|to have|history|patient)|prior diagnos\w+"
    r"|diagnosed (?:with .{3,60} )?(?:\w+ )?(?:years?"
    r"|months?) (?:ago|earlier|before|prior|previously)|at the age of|in (?:early )?(?:childhood"
    r"|infancy)|during (?:infancy|childhood)|since (?:the age|childhood|birth|\d{4})"
    r"|already (?:been )?diagnosed"
    r"|diagnos\w+\b.{0,60}\b(?:years?|months?) (?:ago|earlier|before|prior|previously)|antecedentes?"
    r"|(?:meses|a[nñ]os|d[ií]as|semanas|mois|ans|jours|semaines)(?: (?:antes|despu[eé]s|depois|après|avant))?"
    r" d[elou]{1,2} diagn\w+|(?:desde|hasta|tras|ap[oó]s|desde o|depuis|après|avant) (?:el|le|o) diagn\w+)\b",
    re.IGNORECASE,
)
HISTORY = re.compile(
    r"\bhistory of\b(?:(?!\b(?:was|were|who|presented|underwent|revealed|showed|had)\b)[^,;])*$",
    re.IGNORECASE,
)
FAMILY = re.compile(
    r"\b(?:(?:his|her|their|(?:the )?(?:patient|child|boy|girl|infant|baby)['’]s) (?:\w+ )?(?:mother"
    r"|father|brother|sister|son|daughter|uncle|aunt|cousin|grand\w+|parents?|husband|wife|family)"
    r"|(?:an?|one|two|both|elder|older|younger|maternal|paternal) (?:mother|father|brother|sister|uncle|aunt"
    r"|cousin|grand\w+)s?|family history|relatives?)\b",
    re.IGNORECASE,
)
