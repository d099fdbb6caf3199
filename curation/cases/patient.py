"""Who the patient is: age and sex as the text states them, and whether a sentence introduces one at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from curation.cases import german, romance

Sex = Literal["female", "male", ""]

_UNITS = {
    "year": 1.0, "yr": 1.0, "y": 1.0, "month": 1 / 12, "mo": 1 / 12, "week": 7 / 365.25, "wk": 7 / 365.25,
    "day": 1 / 365.25, "hour": 1 / 8766, "minute": 0.0,
    "año": 1.0, "ano": 1.0, "an": 1.0, "anni": 1.0, "anno": 1.0,
    "jahr": 1.0, "jähr": 1.0, "mes": 1 / 12, "mês": 1 / 12, "mois": 1 / 12, "mesi": 1 / 12, "mese": 1 / 12,
    "monat": 1 / 12, "semana": 7 / 365.25, "semaine": 7 / 365.25, "settimane": 7 / 365.25,
    "woche": 7 / 365.25, "wöch": 7 / 365.25,
    "día": 1 / 365.25, "dia": 1 / 365.25, "jour": 1 / 365.25, "giorni": 1 / 365.25,
    "tag": 1 / 365.25, "täg": 1 / 365.25,
}  # fmt: skip


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


_ONES = _words(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """
)
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
SPELLED = {word: number for number, word in enumerate(_ONES, start=1)}
for _tens, _word in enumerate(_TENS, start=2):
    SPELLED[_word] = 10 * _tens
    SPELLED.update(
        {
            f"{_word}{joined}{one}": 10 * _tens + ones
            for joined in "- "
            for ones, one in enumerate(_ONES[:9], 1)
        }
    )
SPELLED["a hundred"] = 100
"""Whole numbers in English words, as ages are written."""
_NUMERAL = "|".join(sorted(map(re.escape, SPELLED), key=lambda word: (-len(word), word)))
_RELATIVE = (
    r"(?:(?:grand|step|god|half-)?(?:mother|father|brother|sister|son|daughter)s?|husband|wife|aunt|uncle"
    r"|cousins?|niece|nephew|parents?|spouse|partner|siblings?|donor|caregiver)"
)
_N = rf"(?P<n>\d{{1,3}}(?:[.,]\d{{1,2}})?|{_NUMERAL})"
_HALF = r"(?P<half>(?:[\s-]and[\s-]a[\s-]half|\s?½|\s?1/2)?)"
_DASH = r"[\s\u00ad\-‐‑‒–—]*"
_OLD = re.compile(
    rf"(?<![\d.,\w]){_N}{_HALF}{_DASH}(?P<unit>years?|yrs?|months?|mos?|weeks?|wks?|days?"
    rf"|hours?|minutes?){_DASH}(?:old\b|aged\b)",
    re.IGNORECASE,
)
_YEAR_PERSON = re.compile(
    rf"(?<![\d.,\w]){_N}{_DASH}(?P<unit>years?|months?|y)(?=[\s,]+(?:(?!history|follow|surviv|later"
    rf"|ago)[\w-]+\s+){{0,2}}(?:female|male|woman|man|boy|girl|patient|lady|gentleman|primigravida"
    rf"|gravida|g\d)\b)",
    re.IGNORECASE,
)
_UNIT = r"(?P<unit>years?|yrs?|months?|mos?|weeks?|wks?|days?)"
_JOIN = r"(?:[\s,\u00ad\-‐‑‒–—]|and\b)*"
_LATER_UNIT = rf"(?P<more>\d{{1,3}}|{_NUMERAL})[\s\u00ad\-‐‑‒–—]*(?P<lesser>months?|mos?|weeks?|wks?|days?)"
_COMPOUND = re.compile(
    rf"(?<![\d.,\w]){_N}{_DASH}{_UNIT}{_JOIN}{_LATER_UNIT}(?:{_DASH}old\b|\s+of\s+age\b)", re.IGNORECASE
)
_AGED_COMPOUND = re.compile(rf"\baged?\s+{_N}{_DASH}{_UNIT}{_JOIN}{_LATER_UNIT}\b", re.IGNORECASE)
_PERSON_OF = re.compile(
    rf"\b(?:(?:wo)?m[ae]n|(?:fe)?male|boy|girl|lady|gentleman|patient|infant|child|student|worker|farmer"
    rf"|\w*(?:para|gravida)(?: \d)?|{_RELATIVE})(?:,?\s+of|,|\s*\()\s*"
    rf"(?P<age>{_N}{_HALF}{_DASH}{_UNIT})(?=\s*[,;:.)]|\s+(?:who|with|was|had|came|from"
    rf"|without|present\w*|consult\w*|complain\w*|attend\w*)\b)",
    re.IGNORECASE,
)
"""'A man of 68 years', 'Man, 52 years, shepherd', 'the patient (7 months)'."""
_BARE = re.compile(
    r"(?:\b(?:(?:wo)?man|boy|girl|lady|gentleman) of|\bM(?:r|rs|s|iss)\.? (?:[A-Z][\w'’.]*[ ,]\s*){1,3})\s*"
    rf"(?P<age>(?P<n>\d{{1,3}}|{_NUMERAL}))(?=,|\s+(?:who|with|was|had|came|from|without|present\w*|attend\w*)\b)"
)
"""'A woman of 19 who', 'Mr T, 36, worked': years go without saying."""
_IS_NOW = (
    r"(?<!\bwhen )(?<!\bsince )(?<!\buntil )(?<!\bwhile )(?<!\bafter )(?<!\bbefore )"
    r"\b(?:[Ss]?[Hh]e|[Tt]he patient) (?:is|was)(?: now| then)? "
)
_SHE_WAS = re.compile(
    rf"{_IS_NOW}(?P<age>(?P<n>\d{{1,3}}|{_NUMERAL})(?: (?P<unit>years?|months?))?)"
    r"(?=,(?!\s?\d)|[.;](?!\d)|\s+(?:and|when|at the time|but)\b)"
)
"""'She was 56, taught physics', 'he was now 77'."""
_SHORT = re.compile(rf"(?<![\d.,\w]){_N}\s?-?(?P<unit>y)[./]?\s?o\b\.?", re.IGNORECASE)
_OF_AGE = re.compile(
    rf"(?<![\d.,\w]){_N}{_HALF}\s+(?P<unit>years?|months?|weeks?|days?)\s+of\s+age\b", re.IGNORECASE
)
_AGED = re.compile(
    rf"\b(?:aged?|age of)(?:\s+(?:is|was|at))?[\s:,]+{_N}{_HALF}(?:\s+(?P<unit>years?|yrs?|months?"
    rf"|weeks?|days?))?(?![\w.%-])",
    re.IGNORECASE,
)
_SLASH = re.compile(r"(?<![\d/])(?P<n>\d{1,3})\s?(?P<unit>y(?:ears?)?)?\s?[/,]\s?(?P<sex>[FM])\b(?!/)")
_ROMANCE = re.compile(
    rf"(?<![\d.,\w]){_N}\s+{romance.UNIT}(?=\s+(?:de edad|de idade|d['’]âge|di età|de vida|de vie)"
    rf"|\s*[,;.)]|\s+(?:con|com|avec|sin|sem|sans|que|qui|quien|sexo|del?|do|da|sem|natural|previamente"
    rf"|portador\w*|ingres\w+|intern\w+|atendid\w+|hospit\w+|se|foi|fue))",
    re.IGNORECASE,
)
_DECADE = re.compile(
    r"\bin\s+(?:his|her|their|the)\s+(?:(?:early|mid|late)[\s-]+)?(?:\d0['’]?s|(?:fif|six|seven|eigh"
    r"|nine|thir)ties|twenties|forties|teens|(?:first|second|third|fourth|fifth|sixth|seventh|eighth"
    r"|ninth|tenth)\s+decade)\b",
    re.IGNORECASE,
)
_AGE_WORDS = r"(?:teen-?aged?|adolescent|middle-?aged|elderly)"
_WORDS_OF_AGE = re.compile(_AGE_WORDS, re.IGNORECASE)
_IN_WORDS = re.compile(
    r"\b(?:an?|our|this|another)\s(?:(?:[\w-]+,?\s){0,3})"
    rf"(?P<age>{_AGE_WORDS})"
    r"(?=\s(?:[\w-]+\s){0,2}"
    r"(?:girl|boy|wom[ae]n|m[ae]n|(?:fe)?male|lady|gentleman|patient)\b[^.;]{0,60}?"
    r"\b(?:present(?:ed|ing)|was|came|attended|consulted|complain\w+|developed|had|underwent|sustained)\b)",
    re.IGNORECASE,
)
"""An age that is told in words alone: 'A teenage girl presented with'."""
_AGES = (
    _COMPOUND, _AGED_COMPOUND, _OLD, _OF_AGE, _AGED, _YEAR_PERSON, _PERSON_OF, _BARE, _SHE_WAS, _SHORT,
    _SLASH, romance.AGE_OF_PERSON, romance.AGE_WITH_PERSON, _ROMANCE, german.AGE_OF_PERSON, german.AT_AGE,
)  # fmt: skip
_MAY_LAST = (romance.AGE_WITH_PERSON, _ROMANCE)
"""Those that match a duration too."""

_FEMALE = frozenset(
    _words(
        """
        woman female girl lady she her hers herself mother daughter primigravida multigravida primipara
        widow mrs gravida pregnant housewife schoolgirl mujer femenina femenino niña mulher feminino feminina
        menina gestante embarazada femme fille fillette féminin patiente enceinte frau patientin mädchen
        weiblich weibliche donna femmina ragazza bambina sister nulliparous multiparous virgo postmenopausal
        """
    )
)
_MALE = frozenset(
    _words(
        """
        man male boy gentleman he his him himself father son schoolboy hombre varón masculino masculina niño
        homem menino homme garçon masculin mann junge männlich männlicher uomo maschio ragazzo bambino brother
        widower
        """
    )
)
_PRONOUNS = frozenset(_words("she her hers herself he his him himself"))
_KIN = frozenset(_words("mother father daughter son sister brother"))
_BEHIND = re.compile(
    r"[\s,-]*(?:(?:[a-z-]+[\s,]+){0,2}?(?:(?P<female>women|females)|men|males)"
    r"|(?:[a-z-]+ )?(?:(?P<mother>mother)|father) of)\b",
    re.IGNORECASE,
)
"""Right behind the age of a patient: a slip for the singular ("a 23-year old women"), whose parent he is."""
_PERSON = re.compile(
    r"\b(?:wom[ae]n|m[ae]n|females?|males?|girls?|boys?|lady|gentleman|patient|infant|child|baby|neonate"
    r"|newborn|adolescent|teenager|toddler|adult|individual|person|\w*(?:para|gravida)|proband|student"
    r"|worker|farmer|housewife|smoker|athlete|player|soldier|veteran|driver|nurse|physician|sibling"
    r"|sister|brother|twins?|caucasian|african|asian|hispanic|fetus|foetus|schoolboy|schoolgirl|paciente"
    r"|mujer|hombre|niñ[ao]|varón|mulher|homem|crian[çc]a|lactante|lactente|menin[oa]|patiente?|femme"
    r"|homme|fille(?:tte)?|garçon|enfant|nourrisson|frau|mann|patientin|kind|junge|mädchen|donna|uomo"
    r"|widow(?:er)?|M(?:r|rs|s|iss)|bambin[oa]|paziente|ragazz[oa]|masculin[oa]|femenin[oa]|feminin[oa]|case)\b",
    re.IGNORECASE,
)
_ANIMAL = re.compile(
    r"\b(?:dogs?|cats?|canine|feline|horse|mare|gelding|stallion|cow|bull|calf|heifer|sheep|goat|pig"
    r"|rabbit|parrot|ferret|neutered|spayed|intact (?:male|female)|labrador|retriever|shepherd dog"
    r"|terrier|bulldog|poodle|domestic short-?hair|thoroughbred|chickens?|mouse|mice|rats?)\b"
    r"(?![\s-]+(?:farm|breed|own|keep|handl|train|groom|deal|trad|rid|herd|shear|rais|lov|walk|sitt|catch"
    r"|ranch|butch|fanci)(?:er|ing)\b)",
    re.IGNORECASE,
)
"""An animal, unless the word only says whom a person breeds, owns or herds."""
_TOLD = re.compile(
    r"\b(?:with|after|by|following|who|was|were|had|has|of|for|from|to|in|on"
    r"|(?:present|report|complain|develop|suffer|sustain|notic|experienc|admit|refer)\w*|came|felt)\b",
    re.IGNORECASE,
)
"""What ends the words that say who somebody is: behind it an animal bit, and a calf is part of a leg."""
_HUMAN = re.compile(
    r"\b(?:wom[ae]n|m[ae]n|girls?|boys?|lady|gentleman|child|infant|baby|neonate|newborn|adolescent"
    r"|student|worker|farmer)\b",
    re.IGNORECASE,
)
_CHILDREN = (
    rf"(?! of (?:(?:\d+|{'|'.join(_ONES)})\b(?! (?:affected|of|patients|siblings))"
    r"|(?:\w+ ){1,2}(?:children|sons|daughters|boys|girls|kids)|twins|triplets))"
)
"""Not behind a mother who is one by the number of her children only."""
_RELATIVE_AGE = re.compile(
    r"^[\s,-]*(?:(?:healthy|old|pregnant)\s+)?(?:(?:mother|father)\b"
    + _CHILDREN
    + r"|donor\b|parents?\b|brother\b|sister\b|husband\b|wife\b|history\b)",
    re.IGNORECASE,
)
_PAST_AGE = re.compile(r"\b(?:at|from|since|until|by|before|after)\s+(?:the\s+)?(?:an\s+)?$", re.IGNORECASE)
_KIN_BEFORE = re.compile(
    rf"\b{_RELATIVE}(?: (?:of|to) (?:the|our|this|his|her|a)(?: index)?"
    r" (?:patient|proband|child|boy|girl|man|woman))?"
    rf"\s*[,(]\s*(?:who (?:is|was)\s+)?(?:an?\s+|aged?\s+|now\s+)*$"
    rf"|\b{_RELATIVE}\b(?: (?!of\b)[\w-]+){{0,6}} (?:at|aged?|age of|was|is)(?: the)?(?: age)?(?: of)?"
    r"\s*$",
    re.IGNORECASE,
)
"""Before the age of a relative: "his mother, 61", "his mother had died at 61"."""
_FIRST_NOUN = re.compile(
    rf"^[\s,-]*(?:[\w-]+\s+){{0,2}}?(?:(?P<kin>{_RELATIVE}\b{_CHILDREN})|wom[ae]n|m[ae]n|(?:fe)?male|girl|boy|patient|lady"
    r"|gentleman|infant|child|baby)\b",
    re.IGNORECASE,
)
_GROUP_BEFORE = re.compile(
    r"\b(?:over|under|above|below|between|mean|median|average|peaks?|range[sd]?|onset)\b"
    r"(?![^.;]*\b(?:an|a|our|this) $)[^.;]{0,30}$"
    r"|\b(?:patients|men|women|children|persons|people|adults|infants|individuals|boys|girls|they)"
    r"(?:,? (?:who|are|were|aged?|of|mostly|usually|all))*\s*$",
    re.IGNORECASE,
)
_SPAN_AFTER = re.compile(r"(?:\s*(?:years?|months?))?\s*(?:to|through|and|-|–|—)\s*\d", re.IGNORECASE)
_DATED = re.compile(
    r"\b(?:at|from|since|until|till|by|before|after|up to)\s+(?:the\s+age\s+of\s+|age\s+|about\s+)?$",
    re.IGNORECASE,
)
_HE_AFTER = re.compile(
    r",? (?:s?he|the patient) (?:present|was (?:admit|refer|seen|found)|consult|came)", re.I
)
_HE_BEFORE = re.compile(
    r"\b(?:s?he|the (?:patient|boy|girl|child)|twins|siblings|brothers|sisters|twin (?:boys|girls)) (?:had )?"
    r"(?:was |were |been )?(?:first |then |finally |again )?"
    r"(?:present\w*|admitted|referred|seen|brought|attended|consulted|came)\b[^.;]{0,60}$",
    re.IGNORECASE,
)
"""An age at which somebody became a patient: "at 61, he consulted", "he was referred to us at seven"."""
_NEXT_FEW = 5
_NOW_BEFORE = re.compile(rf"{_IS_NOW}$")
_KIN_BESIDE = re.compile(
    r"\b(?:(?P<female>mother|daughter|sister|niece|aunt|wife)|father|son|brother|nephew|uncle|husband)"
    r"\W{0,2}\s?(?:of|aged)?\s*$",
    re.IGNORECASE,
)
"""Right before the age of a patient who is told of as a relative."""
_TOKEN = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, slots=True)
class Age:
    """An age as written: offsets in the text it was found in, years None for a decade."""

    start: int
    end: int
    text: str
    years: float | None
    sex: Sex = ""


def ages_in(text: str) -> list[Age]:
    """Ages of a text in order, without those of relatives and donors."""
    found = [
        _age(match) for pattern in _AGES for match in pattern.finditer(text) if not _is_no_age(pattern, match)
    ]
    found += [Age(match.start(), match.end(), match.group(), None) for match in _DECADE.finditer(text)]
    found += [Age(*match.span("age"), match["age"], None) for match in _IN_WORDS.finditer(text)]
    kept: list[Age] = []
    for age in sorted(found, key=lambda item: (item.start, -item.end)):
        is_new = not kept or age.start >= kept[-1].end
        if (
            is_new
            and (age.years is None or age.years <= 120)
            and not _RELATIVE_AGE.match(text[age.end : age.end + 60])
        ):
            kept.append(age)
    return kept


def _is_no_age(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    """Whether what seems an age is how long something lasted, or that of a relative."""
    if pattern is german.AGE_OF_PERSON:
        return german.is_of_another(match.string, match.end())
    return pattern in _MAY_LAST and romance.is_lasting(match.string, match.start("n"), match.end("unit"))


def _age(match: re.Match[str]) -> Age:
    groups = match.groupdict()
    written = groups["n"].lower().replace(",", ".")
    number = float(SPELLED[written]) if written in SPELLED else float(written)
    number += 0.5 if groups.get("half") else 0.0
    unit = (groups.get("unit") or "year").lower()
    years = number * _scale_of(unit)
    if groups.get("more"):
        more = groups["more"].lower()
        years += (SPELLED[more] if more in SPELLED else int(more)) * _scale_of(groups["lesser"].lower())
    told = german.sex(match) if "ending" in groups else groups.get("sex") or ""
    sex: Sex = {"F": "female", "M": "male"}.get(told, "")  # type: ignore[assignment]
    start, end = match.span("age") if groups.get("age") else match.span()
    return Age(start, end, match.string[start:end].strip(" ,"), round(years, 4), sex)


def _scale_of(unit: str) -> float:
    """Years in a unit as written, in the plural or not."""
    forms = (unit, unit.rstrip("s"), unit.rstrip("es"))
    return next((_UNITS[form] for form in forms if form in _UNITS), 1.0)


def introduction(sentences: Iterable[str], *, may_be_kin: bool = False) -> tuple[str, Age] | None:
    """The sentence of a case that introduces its patient by age, and that age.

    The first that does; but where it only says when something was ("at 12 years of age"), or the age in words
    ("a teenage girl"), one of the next few in which a person is so old ("a 43-year-old man").

    Args:
        sentences: the sentences of the case.
        may_be_kin: whether the patient may be told of as somebody's relative, as in reports of families.
    """
    dated: tuple[str, Age] | None = None
    waited = 0
    for sentence in sentences:
        age = introduces(sentence) or (introduces(sentence, may_be_kin=True) if may_be_kin else None)
        if age is not None:
            if not (_is_date(age, sentence) or _is_in_words(age)):
                return sentence, age
            dated = dated or (sentence, age)
        waited += dated is not None
        if waited > _NEXT_FEW:
            break
    return dated


def _is_in_words(age: Age) -> bool:
    """Whether an age is told in words without a number."""
    return _WORDS_OF_AGE.fullmatch(age.text) is not None


def _is_date(age: Age, sentence: str) -> bool:
    """Whether an age dates an event rather than describes a person."""
    before = sentence[max(0, age.start - 40) : age.start]
    is_dated = _DATED.search(before) is not None or _is_past(age, sentence)
    is_dated = is_dated or (romance.is_written(age.text) and romance.is_dated(before))
    return is_dated and not age.text.lower().endswith("old")


def _is_past(age: Age, sentence: str) -> bool:
    """Whether an age is one at which something was: "at the age of 12"."""
    before = sentence[max(0, age.start - 30) : age.start]
    return age.text.lower().startswith("age") and _PAST_AGE.search(before) is not None


def _is_of_others(age: Age, sentence: str) -> bool:
    """Whether an age is a relative's, a group's, or the beginning of a span of ages."""
    before, after = sentence[max(0, age.start - 90) : age.start], sentence[age.end : age.end + 40]
    if _KIN_BEFORE.search(before) or _GROUP_BEFORE.search(before) or _SPAN_AFTER.match(after):
        return True
    if romance.is_written(age.text):  # "son médecin" names no son
        return romance.is_of_kin(before)
    found = _FIRST_NOUN.search(after)
    return found is not None and found["kin"] is not None


def introduces(sentence: str, *, may_be_kin: bool = False) -> Age | None:
    """The age by which a sentence introduces a patient ("A 54-year-old woman …"), None if it does not.

    Args:
        sentence: one sentence.
        may_be_kin: whether ages of relatives count.
    """
    ages = [age for age in ages_in(sentence) if may_be_kin or not _is_of_others(age, sentence)]
    for age in sorted(ages, key=lambda item: _is_date(item, sentence)):
        before = sentence[max(0, age.start - 120) : age.start]
        is_met = (
            _HE_AFTER.match(sentence[age.end :]) or _HE_BEFORE.search(before) or _NOW_BEFORE.search(before)
        )
        if _is_past(age, sentence) and not _HE_BEFORE.search(before):
            continue
        is_beside = before.endswith(", ") and age.text.endswith("of age") and sentence[age.end :][:1] == ","
        is_said = age.text.lower().endswith("old") or bool(age.sex) or is_met or is_beside
        is_said = is_said or romance.is_of_person(before)
        is_said = is_said or german.AGE_OF_PERSON.fullmatch(age.text) is not None
        is_kin = may_be_kin and _KIN_BESIDE.search(sentence[: age.start])
        if is_said or is_kin or _PERSON.search(sentence[max(0, age.start - 80) : age.end + 90]):
            return age
    return None


def is_animal(sentence: str) -> bool:
    """Whether the one a sentence introduces by its age is an animal."""
    age = next(iter(ages_in(sentence)), None)
    if age is None:
        return False
    near = sentence[max(0, age.start - 30) : age.start] + _TOLD.split(sentence[age.end : age.end + 60])[0]
    animal, human = _ANIMAL.search(near), _HUMAN.search(near)
    return animal is not None and (human is None or animal.start() < human.start())


def sex_of(sentences: Sequence[str], age: Age | None, introduction: str) -> Sex:
    """The sex the text states: the noun beside the age first, then pronouns of the whole case.

    Args:
        sentences: the sentences of the case.
        age: the age that introduces the patient, in `introduction`.
        introduction: the sentence it stands in.

    Returns:
        '' when nothing is stated or the text contradicts itself.
    """
    if age is not None:
        if age.sex:
            return age.sex
        if romance.is_written(age.text) and (agreed := _agreed(introduction, age)):
            return agreed
        if found := _BEHIND.match(introduction[age.end : age.end + 60]):
            return "female" if found["female"] or found["mother"] else "male"
        after = _nearest(romance.without_kin(introduction[age.end : age.end + 110]))
        before = romance.without_kin(introduction[max(0, age.start - 60) : age.start])
        if after or (after := _nearest(before, last=True)):
            return after
        if found := _KIN_BESIDE.search(introduction[: age.start]):
            return "female" if found["female"] else "male"
    female = male = 0
    for sentence in map(romance.without_kin, sentences):
        words = [word.lower() for word in _TOKEN.findall(sentence)]
        women, men = romance.agreeing(sentence)
        female += women + sum(word in _FEMALE and word not in _KIN for word in words)
        male += men + sum(word in _MALE and word not in _KIN for word in words)
    if female > 2 * male:
        return "female"
    return "male" if male > 2 * female else ""


def _agreed(sentence: str, age: Age) -> Sex:
    """Sex of one introduced in a Romance language: the noun before the age, then what agrees with it."""
    before = romance.without_kin(sentence[max(0, age.start - 60) : age.start])
    women, men = romance.agreeing(before)
    if found := _nearest(before, last=True):
        return found
    if women != men:
        return "female" if women > men else "male"
    after = sentence[age.end : age.end + 110]
    return romance.sex_behind(after) or _nearest(romance.without_kin(after))


def _nearest(text: str, *, last: bool = False) -> Sex:
    """Sex of the first (or last) word that states one; pronouns and kin do not count here."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    for word in reversed(words) if last else words:
        if word in _PRONOUNS or word in _KIN:
            continue
        if word in _FEMALE:
            return "female"
        if word in _MALE:
            return "male"
    return ""
