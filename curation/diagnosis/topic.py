"""What a case report is about: the disease its title names, in the other words and acronyms of its text.

A title is cut to its head ("X after Y", "X in a patient with Y" are about X). Words are compared without
case, plural, British spelling and the endings of one disease ("tuberculosis", "tuberculous").
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_GENERIC = _words(
    """
    about after acute adult against among associated atypical based before bilateral boy brief case
    cases child chronic clinical complicated complicating complication diagnosis diagnosed diagnostic
    during early effect elderly excision extensive extremely failure female first following follow from
    giant girl healthy history human identified imaging infant initial interesting large late leading
    left literature long male management manifestation massive mild mimicking multiple novel old outcome
    patient patients pediatric paediatric possible postoperative pregnancy presenting presentation primary
    probable procedure rapid rare recurrent related repair report reported reports resolution result
    resulting review revealed revealing right secondary series severe sign single spontaneous study
    subsequent successful successfully surgery surgical technique term therapy treated treatment type
    undergoing uncommon unilateral unique unusual using various with without woman year years young
    approach evaluation experience findings lesion lesions lessons learned mass patient's removal special
    entity cause causes occurrence induced onset state role value importance challenge challenging pitfall
    pitfalls dilemma association between complete partial combined concurrent coexisting concomitant
    and the for due two one not its his her was are can may new use who all via has had low how our any
    four five that this which their were have been being over only more most than then into upon when
    simultaneous incidental incidentally detected found discovered reporting describing cohort analysis
    """
)
"""Words of titles that say nothing of the disease."""
_ENDS = (
    r"itis|itides|omas?|omata|os[ie]s|ias[ie]s|[aeiou]?emias?|penia|opath(?:y|ies)|plasias?|trophy"
    r"|megaly|stenosis|ectas(?:ia|is)|cele|o?edema|algia|plegia|paresis|uria|rrhages?|rrhagia|rrho?ea"
    r"|rrhexis"
    r"|cytosis|philia|toxicity|malacia|lithiasis|schisis|ptosis|spasm|pnea|lepsy|lepsia|clampsia|agenesis"
    r"|dysgenesis|tresia|chalasia|thyroidism|pituitarism|gonadism|embolism|phylaxis|sclerosis|plakia|derma"
    r"|phagia|phasia|phrenia|tonia|kinesia|mnesia|oxia|rexia|mastia|myelia|dactyly|virus|penic"
)
_DISEASE = re.compile(
    rf"\w+(?:{_ENDS})|(?:ha?emo|rhabdomyo|necro|epidermo|osteo|spondylo)lysis"
    r"|\w*(?:pneumo|ha?emo|chylo|hydro|pyo)(?:thorax|peritoneum|pericardium)|(?:asthma|diabetes"
    r"|tubercul\w+|an(?:a)?emia|dystrophy|palsy|stroke|sepsis|cancer"
    r"|carcinoid|gangrene|malaria|measles|gout|lupus|scurvy|rickets|leprosy|cholera|dengue|botulism|tetanus"
    r"|rabies|syphilis|scabies|zoster|varicella|shingles|epileps(?:y|ies)|dementia|delirium|ataxia"
    r"|pneumonia"
    r"|volvulus|intussusception|bezoar|hypertension|hypotension|priapism|pemphig\w+|lichen|n(?:a)?evi"
    r"|na?evus"
    r"|keloid|autism|paralysis|arrhythmia|tachycardia|bradycardia|thrombus|trisomy|monosomy|psychosis|mania"
    r"|glaucoma|cataract|scoliosis|empyema|emphysema|eczema|erythema|exanthem\w*|urticaria|purpura|vertigo"
    r"|angina|ascites|jaundice|hydrops|varices|ha?emorrhoid|hydrocephalus|dextrocardia|coarctation"
    r"|tamponade"
    r"|chorea|parkinsonism|sciatica|migraine|porphyria|goit(?:er|re)|albinism|vitiligo|alopecia|impetigo"
    r"|anthrax|plague|tular\w+|brucell\w+|leptospir\w+|listeri\w+|salmonell\w+|typhoid|typhus|influenza"
    r"|rubella|mumps|herpes|molluscum|hydatid|echinococc\w+|toxoplasm\w+|leishman\w+|trypanosom\w+"
    r"|schistosom\w+|am(?:o)?eb\w+|cryptococc\w+|aspergill\w+|candid\w+|mucor\w+|histoplasm\w+|nocardi\w+"
    r"|actinomyc\w+|blindness|deafness|nystagmus|tremor|convulsion|depression|immunodeficiency|aniridia"
    r"|infertility|necrolysis|amyloid|syrinx|eclampsia|hypospadias|clubfoot|catatonia|poliomyel\w+)s?",
    re.IGNORECASE,
)
"""Words that name a disease by themselves."""
_KIND = re.compile(
    r"(?:syndrome|disease|disorder|deficiency|infect(?:ion|ed)|infarct\w*|fistula|fractured?|tumou?r|cyst"
    r"|hernia|herniated|strangulated|incarcerated|ruptured?|injury|anomaly|malformation|aneurysm|pseudoaneurysm|ulcer|abscess|ha?emorrhage"
    r"|ha?ematoma|occlusion|dissection|perforat(?:ion|ed)|torsion|fever|embol(?:us|i|ism)|thromboembolism|shock"
    r"|neoplasm|ganglion"
    r"|poisoning|toxicity|loss|intoxication|overdose|dislocat(?:ion|ed)|tear|avulsion|stricture|obstruction"
    r"|impaction"
    r"|insufficiency|regurgitation|prolapse|diverticul\w+|polyp|calcul(?:us|i)|stone|leak|entrapment"
    r"|compression|contracture|deformity|ectopic|defect|mutation|deletion|duplication|reaction"
    r"|hypersensitivity|allergy|withdrawal|arrest|block|seizure|metastas[ie]s|metastatic|burn|bite|sting"
    r"|foreign|degeneration|herniation|exostosis|atrophy|invasion|infestation|crisis|attack|failure"
    r"|malignancy|body|bodies|pregnancy|gestation|deficien\w+|abnormalit\w+|dysfunction"
    r"|effusion|variant|cleft|fissure|palsy|spasm|retardation|instability|aplasia|agenesis)s?",
    re.IGNORECASE,
)
"""Words that name a kind of disease and need another word to say which."""
_NOT_DISEASES = _words(
    """
    diagnosis diagnoses misdiagnosis prognosis prognoses hypothesis prophylaxis dialysis hemodialysis
    haemodialysis doses purposes proposes exposes imposes encloses discloses predisposes chooses poses roses
    apoptosis ferroptosis mitosis mitoses meiosis symbiosis anastomosis phagocytosis hypnosis kurtosis
    thomas diploma stoma stroma stomata soma chroma hybridoma cardioplegia glycemia glycaemia academia
    candidate candidates thromboprophylaxis stasis homeostasis hemostasis haemostasis
    """
)
_BACKGROUND = re.compile(
    r"\b(?:in (?:an? |the )?(?:[\w-]+ ){0,6}(?:patients?|males?|females?|wom[ae]n|m[ae]n|boys?|girls?"
    r"|child(?:ren)?|infants?|neonates?|newborns?|adults?|adolescents?|carriers?|recipients?)\b"
    r"|in (?:[\w'’-]+ ){1,4}(?:syndrome|disease)\b|after|following|post|under|undergoing|treated (?:with"
    r"|by)"
    r"|mimick\w+|masquerad\w+|simulating|misdiagnosed as|mistaken|resembling|imitating|rather than"
    r"|presenting (?:as|with)|diagnosed (?:by|with|during)|confirmed by|detected by|identified by)\b.*",
    re.IGNORECASE,
)
"""Where a title turns from its disease to the patient, the occasion or the look of it."""
_SYMPTOM = re.compile(r"\b(?:causes?|reasons?|etiology|aetiology) (?:of|for|behind) .*", re.IGNORECASE)
"""What the disease caused, which a title may name instead of it ("An unusual cause of dysphagia")."""
_QUOTED = re.compile(r"“[^“”]*”|\"[^\"]*\"|«[^«»]*»|„[^„“”]*[“”]|(?<!\w)‘[^‘]*?’(?!\w)")
"""What a disease was called at first, or is only called."""
_LOOKS = re.compile(
    r"\b(?:mimick\w+|masquerad\w+|simulating|misdiagnosed as|mistaken|resembling|imitating|rather than)\b.*",
    re.IGNORECASE,
)
_NAMED_CASE = re.compile(
    r"\b(?:report|present|describe)(?:ed|s)?\b[^.;]{0,60}?\b(?:cases?|instance|patient) (?:of"
    r"|with) (.{4,90})",
    re.IGNORECASE,
)
_NAME_ENDS = re.compile(r"[.,;:(]|\b(?:in|who|that|which|treated|presenting|after|following|and a review)\b")
_DECLARED = re.compile(r"\(([A-Z][A-Za-z]?[A-Z]{1,5})s?\)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_PLURAL = re.compile(r"(?:es|is|s)$")
_SPECIES = re.compile(
    r"(?:(?<!^)\b|^(?=\w+ \w+(?:us|um|is|ae|ens|ans|ii|[ac]a)\b))([A-Z][a-z]{3,}) ([a-z]{4,})\b"
)
_GENE = re.compile(r"\b[A-Z]{2,}\d+[A-Z\d]*\b")
_SYNONYMS = {
    word: name
    for name, words in (
        ("kidney", "renal kidneys nephric"),
        ("heart", "cardiac"),
        ("lung", "pulmonary lungs"),
        ("liver", "hepatic"),
        ("stomach", "gastric"),
        ("spleen", "splenic"),
        ("brain", "cerebral"),
        ("skin", "cutaneous dermal"),
        ("eye", "ocular eyes"),
        ("breast", "mammary"),
        ("bowel", "intestinal intestine enteric"),
        ("bladder", "vesical"),
        ("bone", "osseous"),
        ("tooth", "dental teeth"),
        ("tongue", "lingual"),
        ("chest", "thoracic thorax"),
        ("vein", "venous veins"),
        ("nerve", "neural nerves"),
        ("neck", "cervical"),
        ("thigh", "femoral femur"),
        ("shin", "tibial tibia"),
        ("carcinoma", "cancer cancers cancerous carcinomatous"),
        ("tumor", "neoplasm neoplasms neoplastic"),
        ("hemorrhage", "bleed bleeding bleeds haemorrhagic hemorrhagic"),
        ("rupture", "tear tears torn laceration lacerated"),
        ("calculus", "stone stones calculi"),
        ("insufficiency", "regurgitation incompetence"),
        ("thrombus", "clot clots"),
        ("metastasis", "metastases metastatic metastasized"),
        ("infarction", "infarct infarcts infarcted"),
        ("tuberculosis", "tb"),
        ("embolism", "emboli embolus embolic thromboembolism thromboembolic"),
        ("poisoning", "intoxication toxicity overdose"),
        ("pregnancy", "gestation"),
    )
    for word in words.split()
}
"""Words that say the same of an organ or a disease in another root."""
_INFECTION = re.compile(
    r"^(?:infec|infest|absces|sepsi|septic|tuber|pneumoni|empyem|covid|sars|hiv|virus|virem|bacte|fungal|funga|parasi)"
    r"|(?:mycosis|mycoses|myc|virus|iasis|coccus|coccal|rickett|brucell|salmonell|listeri|nocardi)$"
)
"""Beginnings and endings of words for infections, stemmed or whole."""
_SPELLINGS = (("ae", "e"), ("oe", "e"), ("our", "or"))
_ROOT = re.compile(r"(?:osis|oses|otic|iasis|omatous|omas?|ous|us|i)$")
_PREFIXED = re.compile(
    r"(?:hyper|hypo|inter|intra|trans|retro|pseudo|neuro|cardio|gastro|osteo|extra|peri|micro)"
)
_LINKS = _words("a an and by for from in of on or the to with")
_TESTS = _words("MRI PET DNA RNA PCR NGS ICU ECG EEG HIV AIDS CASE REPORT USA COVID BRAF EGFR HER FDG SPECT")
"""Acronyms of titles that name no disease."""
_STEM, _LONG_STEM, _MIN_ROOT = 5, 9, 6
NAMES = 2
"""Agreement of a text that names the topic itself."""


def stem(word: str) -> str:
    """The beginning of a word by which its forms are the same; longer after a common prefix."""
    plain = _plain(word)
    return plain[: _LONG_STEM if _PREFIXED.match(plain) else _STEM]


def _plain(word: str) -> str:
    plain = _SYNONYMS.get(word.lower(), word.lower())
    plain = plain.removeprefix("hemi") if len(plain) > 9 else plain
    for british, american in _SPELLINGS:
        plain = plain.replace(british, american)
    return plain


def _form(word: str) -> str:
    """A word of a disease without plural, and without the ending if enough is left: "tubercul", "thromb"."""
    plain = _plain(word)
    root = _ROOT.sub("", plain)
    return root if len(root) >= _MIN_ROOT else _PLURAL.sub("", plain)


def _kind(word: str) -> str:
    """A word for a kind of disease, as noun or verb alike: "rupture", "ruptured"."""
    return _PLURAL.sub("", _plain(word))[:_MIN_ROOT]


def words_of(text: str) -> list[str]:
    """The words of a text that can be compared, as written."""
    return _WORD.findall(text)


def names_disease(word: str) -> bool:
    """Whether a word alone names a disease by the way it ends."""
    return bool(_DISEASE.fullmatch(word)) and word.lower() not in _NOT_DISEASES


def is_disease(term: str) -> bool:
    """Whether a word of a term ends the way names of diseases do, or names a kind of disease."""
    return any(names_disease(word) or _KIND.fullmatch(word) for word in words_of(term))


@dataclass(frozen=True, slots=True)
class _Read:
    """The words of a text as topics compare them: stems, each with the kinds its words have."""

    stems: Mapping[str, frozenset[str]]
    kinds: frozenset[str]
    forms: frozenset[str]
    diseases: frozenset[str]
    acronyms: frozenset[str]
    species: frozenset[tuple[str, str]]


@functools.lru_cache(maxsize=8192)
def _read(text: str) -> _Read:
    words = words_of(text)
    stems: dict[str, set[str]] = {}
    for word in words:
        stems.setdefault(stem(word), set()).add(_kind(word))
    return _Read(
        stems={one: frozenset(kinds) for one, kinds in stems.items()},
        kinds=frozenset(map(_kind, words)),
        forms=frozenset(map(_form, words)),
        diseases=frozenset(_form(word) for word in words if names_disease(word)),
        acronyms=frozenset(_acronyms(text)),
        species=frozenset((stem(one), stem(other)) for one, other in _SPECIES.findall(text)),
    )


@dataclass(frozen=True, slots=True)
class Topic:
    """What a report's title is about: stems of its content words, its disease words, its acronyms.

    `pairs` are neighbouring words of the title; a species is named by one: "Edwardsiella tarda". `whole` is
    the topic of a title that was cut, with what follows the disease.
    """

    stems: frozenset[str]
    diseases: frozenset[str]
    kinds: frozenset[str]
    acronyms: frozenset[str]
    pairs: frozenset[tuple[str, str]] = frozenset()
    whole: Topic | None = None

    @property
    def is_known(self) -> bool:
        """Whether the title names a disease at all, by its words."""
        return bool(self.diseases or self.kinds)

    @property
    def is_infection(self) -> bool:
        """Whether the topic is a disease that a germ makes, by its words."""
        return any(map(_INFECTION.search, self.diseases | self.kinds | self.stems))

    def agreement(self, sentence: str) -> int:
        """How well a sentence names the topic: 0 not, 1 in some word, 2 a disease of it (:data:`NAMES`)."""
        read = _read(sentence)
        kinds = read.kinds & self.kinds
        others = {stem for stem, its in read.stems.items() if stem in self.stems and not its <= kinds}
        if self.acronyms & read.acronyms or self.diseases & read.forms or self._is_kin(read):
            return 2
        if (kinds and others) or len(kinds) > 1 or self.pairs & read.species:
            return 2
        if not self.is_known and len(others) >= max(2, len(self.stems) / 2):
            return 2
        return 1 if others or kinds else 0

    def _is_kin(self, read: _Read) -> bool:
        """Whether a disease of a text is a kind of one of the topic, or the other way round."""
        return any(
            min(len(form), len(own)) >= _MIN_ROOT and (form.endswith(own) or own.endswith(form))
            for form in read.diseases
            for own in self.diseases
        )

    def widened(self, names: Iterable[str]) -> Topic:
        """The topic with the disease words of other names of the same thing."""
        found = frozenset(_form(word) for name in names for word in words_of(name) if names_disease(word))
        return replace(self, diseases=self.diseases | found)


NO_TOPIC = Topic(frozenset(), frozenset(), frozenset(), frozenset())
"""Of a title that says nothing of what its patient has."""


def _acronyms(text: str) -> set[str]:
    words = {part for word in words_of(text) for part in (word, word.rstrip("s")) if part[:2].isupper()}
    return words | set(_GENE.findall(text))


def head_of(title: str) -> str:
    """The part of a title that names its disease: not what follows, unless only that names one."""
    cut = _BACKGROUND.search(title)
    head = title[: cut.start()] if cut else title
    return title if is_disease(title) and not is_disease(head) else head


def unquoted(title: str) -> str:
    """A title without what is only called so and without what the disease caused."""
    return _SYMPTOM.sub("", _QUOTED.sub(" ", title))


def without_looks(title: str) -> str:
    """A title up to what the disease only looked like."""
    cut = _LOOKS.search(title)
    return title[: cut.start()] if cut else title


def presented(text: str) -> Iterator[str]:
    """What a report says it presents: "we report a case of …"."""
    return (_NAME_ENDS.split(found[1])[0] for found in _NAMED_CASE.finditer(text))


def topic_of(title: str, text: str = "") -> Topic:
    """The topic of a title, with what `text` adds: "hearing loss (SNHL)", "we report a case of …"."""
    title = unquoted(title)
    head = head_of(title)
    topic = _declared(_topic(head), text)
    return topic if head == title else replace(topic, whole=_declared(_topic(title), text))


def _declared(topic: Topic, text: str) -> Topic:
    """A topic with the acronyms a text declares for it, and what it says it reports if the title does not."""
    if not topic.is_known:
        topic = topic.widened(presented(text))
    declared = set()
    for found in _DECLARED.finditer(text):
        words = text[max(0, found.start() - 120) : found.start()].split()[-2 * len(found[1]) :]
        if topic.agreement(" ".join(words)) > 1:
            declared.add(found[1])
    return replace(topic, acronyms=topic.acronyms | declared)


def _topic(title: str) -> Topic:
    content = [word for word in words_of(title) if word.lower() not in _GENERIC]
    kinds = [word for word in words_of(title) if _KIND.fullmatch(word)]
    specific = [word for word in content if word not in kinds]
    return Topic(
        stems=frozenset(map(stem, specific)),
        diseases=frozenset(_form(word) for word in content if names_disease(word)),
        kinds=frozenset(map(_kind, kinds)),
        acronyms=frozenset([*_initials(title), *_GENE.findall(title)]),
        pairs=frozenset((stem(one), stem(two)) for one, two in itertools.pairwise(specific) if one != two),
    )


def _initials(title: str) -> Iterator[str]:
    """Acronyms for stretches of the title that name a disease; "AV" counts as two letters."""
    words = [word for word in re.split(r"[\s-]+", title) if word[:1].isalpha() and word.lower() not in _LINKS]
    yield from (
        word
        for word in words
        if len(word) > 2 and word.isupper() and word not in _TESTS and not title.isupper()
    )
    for size in (2, 3, 4, 5):
        for at in range(len(words) - size + 1):
            run = words[at : at + size]
            letters = "".join(word if word.isupper() else word[0].upper() for word in run)
            if 3 <= len(letters) <= 6 and is_disease(" ".join(run)):
                yield letters
