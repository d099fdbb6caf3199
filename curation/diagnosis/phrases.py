"""The words by which titles and sentences of case reports relate the diseases they name.

Collected from titles of case reports in MEDLINE and from the shared articles set aside for tuning.
"""

from __future__ import annotations

import re


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_WRONGLY = (
    r"(?:mis(?:diagnos|label|interpret|read|identif|classif|attribut|took|tak)\w*|confus(?:ed|ing)"
    r"|(?:wrong|erroneous|false|incorrect|mistaken)(?:ly)? (?:\w+ )?(?:diagnos|label|treat|interpret|classif"
    r"|identif|regard|consider|read)\w*)"
)
_NEVER = (
    rf"{_WRONGLY}(?: [\w’'-]+){{0,6}}? (?:as|for|with|to be|to have|having)(?: (?:having|a case of))?"
    r"|(?:treated|managed) as(?: a case of)?"
    r"|mimick\w*|masquerad\w+(?: as)?|simulating|resembling|imitating|rather than|instead of"
    r"|not due to|in the absence of|without"
    r"|differential diagnos[ie]s|(?:differentiat|distinguish)\w* from|(?:distinct|different) from|unlike"
    r"|versus|vs|rul(?:e|ed|ing) out|exclud(?:e|es|ed|ing)|negative for|no (?:evidence|signs?|history) of"
    r"|history (?:of|includ\w+|significant for)|previously (?:diagnosed|treated|known)"
    r"|(?:had|has|have) (?:already |previously )?been (?:diagnosed|known|treated)|incidental(?:ly)?"
    r"|screening for|vaccinat\w+ against|risk (?:of|for)|initially (?:mis)?(?:diagnosed|treated)"
)
_DOUBT = (
    r"(?:initially|originally|first) (?:thought|suspected|considered|presumed|classified|labell?ed|regarded"
    r"|called|interpreted|reported|read|described)(?: (?:as|to be))?|suspicion (?:of|for)|suspect(?:ed|ing)"
    r"|(?:presumed|thought|believed|suspected|assumed|considered|supposed) to (?:be|have)"
    r"|presumptive(?:ly)?|provisional(?:ly)?|presumed|assumed|supposed"
    r"|(?:initial|original|first|working|preliminary|tentative|referral|referring|admission|admitting|previous|prior"
    r"|earlier) (?:\w+ )?(?:diagnos[ie]s|impression)(?: (?:of|was|as|with))?"
    r"|first(?:ly)? (?:mis)?diagnosed (?:as|with)"
)
_CAUSE = (
    r"(?:secondary|due|attribut(?:ed|able)|owing|subsequent|related) to|because of"
    r"|(?:caused|induced|triggered|precipitated|provoked|produced) by"
    r"|(?:resulting|originating|arising) (?:from|out of)"
    r"|as (?:an? |the |its )?(?:\w+ )?(?:complication|consequence|result|sequela|sequel) of"
    r"|associated with|in association with|linked to"
)
_SETTING = (
    r"arising in|in (?:the )?(?:setting|context|presence|course|background) of"
    r"|in (?:[\w'’-]+ ){0,9}?(?:patients?|males?|females?|wom[ae]n|m[ae]n|boys?|girls?|child(?:ren)?"
    r"|infants?|neonates?|newborns?|adults?|adolescents?|carriers?|recipients?|members?)"
    r"(?: (?:with|having|suffering from|affected by|previously on|after|infected with"
    r"|treated (?:for|with)|undergoing|receiving))*"
    r"|complicating|superimposed (?:on|upon)|after|following|during|undergoing|coexist\w+ with"
    r"|concomitant with|coinciding with|in"
)
_SIGN = (
    r"(?:present|manifest)(?:ing|ed|s)? (?:\w+ly )?(?:as|with|by)|appearing as|leading to|resulting in"
    r"|complicated (?:by|with)|followed by|evolving (?:in)?to|developed|responsible for"
    r"|as (?:an? |the )?(?:\w+ )?cause of|with"
)
_EFFECT = r"causing|inducing|precipitating|provoking"
_NEUTRAL = (
    r"in (?:an? |the |two |three |some )?(?:\w+ ){0,2}?(?:diagnosis|treatment|management|therapy|evaluation"
    r"|assessment|detection|investigation|surgery|imaging|follow-up|pathogenesis|differentiation"
    r"|demonstration|localization|cases?|series|instances?|forms?|types?) of"
    r"|(?:presentation|manifestation|sign|symptom|feature|finding|characteristic|aspect|change"
    r"|complication|outcome)s? (?:of|in)"
)
_TURN = (
    r"as (?:an? |the )?(?:\w+ ){0,3}?(?:presentation|manifestation|sign|symptom|feature|clue|harbinger)"
    r" (?:of|in|to)|as (?:an? |the )?(?:\w+ )?(?:risk factor|trigger) (?:for|of)"
    r"|reveal(?:ing|ed)|unmask(?:ing|ed)|(?:leading|led|pointing) to (?:the |a )?diagnosis of"
    r"|(?<=: )(?:an? |the )?(?:\w+ ){0,3}?(?:presentation|manifestation|sign)s? of"
)
CONNECTIVE = re.compile(
    rf"\b(?:(?P<turn>{_TURN})|(?P<neutral>{_NEUTRAL})|(?P<never>{_NEVER})|(?P<doubt>{_DOUBT})"
    rf"|(?P<effect>{_EFFECT})|(?P<cause>{_CAUSE})|(?P<sign>{_SIGN})|(?P<setting>{_SETTING}))(?!\w)",
    re.IGNORECASE,
)
"""What joins two diseases, by what it makes of the one behind it.

turn: the diagnosis, and of the one before it a sign; neutral: nothing, it only says in what respect the
report is about it; never: something the patient does not have, or no longer; doubt: something suspected;
effect: a sign of a disease named before, else the diagnosis; cause, sign, setting: as a role.
"""
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"]*\"|«[^«»]*»|„[^„“”]*[“”]|(?<!\w)‘[^‘]*?’(?!\w)")


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether a stretch stands in quotation marks, in part or whole, unless they hold nearly all."""
    return any(
        found.start() < end and start < found.end() and 5 * len(found.group()) < 4 * len(text)
        for found in _QUOTED.finditer(text)
    )


NOT_BEFORE = re.compile(
    r"\b(?:not(?: just| merely| always| every| an?)?|is (?:it|this)(?: really| always| just| only)?(?: an?)?)"
    r" $",
    re.IGNORECASE,
)
"""Right before a disease that it was not."""
CAUSED = re.compile(
    r"\b(?:(?:secondary|due|owing|attributable) to|because of|caused by|(?:resulting|arising) from"
    r"|as (?:an? |the )?(?:\w+ )?(?:complication|consequence|result|sequela) of)(?: [\w’'/-]+){0,4} $",
    re.IGNORECASE,
)
"""Right before a disease that is the cause of another, not only found beside it."""
RESET = re.compile(
    r"[:;.?!](?=\s|$)|[—–]|\s-\s|\b(?:but|however|finally|eventually|ultimately)\b"
    r"|,(?= (?:(?:the|our|this) (?:patient|case|child|boy|girl|infant|man|woman)|he|she|we)\b)",
    re.IGNORECASE,
)
"""Where a clause ends and reading starts anew."""
CAUSE_AFTER = re.compile(
    r"[\s‐–-]+(?:induced|associated|related|triggered|mediated|provoked)\b", re.IGNORECASE
)
"""Behind a disease that is the cause of what follows: 'lupus-associated'."""
NEVER_AFTER = re.compile(
    r"[\s‐–-]+(?:vaccin\w+|immuni[sz]ation|pandemic|epidemic|outbreaks?|lockdown|era|screen(?:s|ing)?|tests?|work-?up|prevention"
    r"|prophylaxis)\b|[^,;.]{0,40}?\b(?:was|were|is|are|been) (?:\w+ly )?(?:excluded|ruled out|unlikely"
    r"|discarded|withdrawn|revised|refuted|rejected|abandoned|dropped|not (?:found|confirmed))\b",
    re.IGNORECASE,
)
"""Behind a disease that the patient does not have, or that is only the occasion."""
FOUND_AFTER = re.compile(
    r"[^.;]{0,80}?\b(?:was|were|is|are|been|being) (?:\w+ ){0,3}?(?:diagnosed|confirmed|established|made"
    r"|prove[nd]|identified|found|detected|revealed|seen|noted|considered|verified|isolated|demonstrated"
    r"|evident|shown|documented|discovered)\b",
    re.IGNORECASE,
)
"""Behind a disease that was found."""
CONFIRMED = re.compile(r"\b(?:confirm|prove[dn]|verif|establish)\w*", re.IGNORECASE)
"""In a sentence with one of these, words of suspicion take nothing back."""
STATED = re.compile(
    r"\bdiagnos(?:is|es|tic|ed)?\b(?:[^.;]{0,40}?\b(?:of|with|as|to be|to have|was|is|were|for)\b)?(?!\w)"
    r"|\b(?:confirm|reveal|show|demonstrat|disclos|identif|detect|suggest|indicat|establish|report|grew"
    r"|fulfill?|met\b|represent|turned out|proved|label)\w*(?: to be| as| of)?"
    r"|\b(?:consistent|compatible|in keeping) with\b"
    r"|\b(?:suggestive|indicative|diagnostic|typical|criteria) (?:of|for)\b"
    r"|\bpositive for\b|\b(?:was|is) (?:an? )?case of\b|\bimpression of\b",
    re.IGNORECASE,
)
"""Before the disease that a sentence states."""
NAMED_BY = re.compile(
    r"\b(?:cases?|instance|patients?|child|infant|boy|girl|man|woman|male|female|adult|adolescent)\b"
    r"[^,;.]{0,40}?\b(?:of|with|due to|from|having|affected by|suffering from|developed|who had)\b"
    r"|\b(?:diagnos\w+) (?:of|with|as)\b",
    re.IGNORECASE,
)
"""Before the disease that such a sentence says the patient has."""
OF_A_PERSON = re.compile(
    r" (?:patient|newborn|neonate|infant|child|boy|girl|man|woman|male|female|adult|adolescent|recipient)\b",
    re.IGNORECASE,
)
"""Behind a disease that only says what kind of patient has the next one."""
SHARED_NOUN = re.compile(r"\b\w+(?:al|ic|ar|ary|ous|ive|oid|eal|ed) (?:and|or|and/or|&|/) $", re.IGNORECASE)
"""Before a mention that is half of one: 'esophageal and | duodenal atresia'."""
GENERIC = _words(
    """
    a an the of in and or with rare unusual uncommon atypical severe acute chronic fatal massive recurrent
    this that our new novel unexpected strange common serious multiple bilateral unilateral his her their its
    case first known unknown any some other related primary secondary clinical medical
    """
)
"""Words that do not say which disease a word like 'infection' means."""
COURSE = _words(
    """
    active additional adult advanced aggressive another aseptic asymptomatic autoimmune bacterial benign
    biopsy childhood classic classical coexisting complete complicated concomitant concurrent confirmed
    congenital de diagnosed diffuse disabling disseminated double drug early elderly end extensive
    familial florid focal fourth frank fulminant fungal further giant grade hereditary high huge
    iatrogenic idiopathic incidental indolent induced infantile infectious inoperable intermittent
    intractable invasive isolated juvenile large late latent left lethal life likely localised localized
    malignant massive metastatic mild mixed moderate multifocal negative neonatal newly non nonspecific
    novo occult onset operable overt paediatric painful painless partial pediatric perforated
    perioperative persistent positive possible postoperative postpartum pregnancy presumed primary
    probable progressive proven reactivated recurring refractory relapsed relapsing resistant right
    ruptured second secondary senile septic silent simple simultaneous single small solitary spontaneous
    sporadic stage sterile steroid subacute subclinical subtotal suspected symptomatic synchronous
    systemic terminal therapy third threatening total transient traumatic treatment triple true type
    typical uncomplicated underlying undiagnosed unexpected unexplained unresectable untreated viral
    virus
    """
)
"""Words that say of a disease how, when, how far and in whom, not which it is."""
FUNCTION = _words(
    """
    about above across after against along also among around because been before being below beneath
    between both could does done during each either even ever every find found from gave give given have
    having here into itself just like made make many more most much must neither never once only onto
    other over same shall should since some such than that their them then there these they those
    through thus towards under until upon very were what when where whereas whether which while whom
    whose will with within without would
    """
)
"""Words of grammar, which may stand before any disease."""
METHOD = re.compile(
    r"\b(?:treat\w*|manag\w+|therap\w+|surg\w+|\w+ectom\w+|\w+plast\w+|\w+otom\w+|\w+ostom\w+|\w+scop\w+"
    r"|\w+graph\w*|repair|reconstruct\w+|resect\w+|transplant\w*|an(?:a)?esth\w+|dialysis|diet\w*|ablation"
    r"|\w*embolization|thrombolysis|stent\w*|graft\w*|rehabilitation|imaging|mri|ct|ultraso\w+|tomography"
    r"|diagnos\w+|detection|effic\w+|effect\w*|respon\w+|use|role|outcomes?|experience|approach|technique"
    r"|changes?|features|findings|course|pregnancy|monitoring|closure|revision|cases?|lessons|value|utility"
    r"|assessment|evaluation|study|analysis|measurement|reduction|reports?|risk|epidemiology|administration"
    r"|patients?)\b",
    re.IGNORECASE,
)
"""What a report may be about beside a disease: the head of a title that names one only as the setting."""
