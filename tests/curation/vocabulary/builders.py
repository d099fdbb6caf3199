"""Small vocabularies written by us: no term of them is from a restricted source."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

OBO = """format-version: 1.2
data-version: toy/releases/2026-01-02
property_value: terms:license "https://creativecommons.org/licenses/by/4.0/" xsd:string

[Term]
id: TOY:0000001
name: All

[Term]
id: TOY:0000002
name: Spotted skin
alt_id: TOY:0000012
def: "Skin with spots." [TOY:me]
synonym: "Skin spots" EXACT []
synonym: "SPS" EXACT abbreviation []
synonym: "Dotty" RELATED layperson []
synonym: "Rash" BROAD []
synonym: "Freckled nose" NARROW []
synonym: "Old spots" EXACT obsolete_synonym []
xref: UMLS_CUI:C9000002
xref: SNOMEDCT_US_2023_03_01:123
xref: https://example.org/page
property_value: skos:exactMatch MESH:D900002
property_value: skos:broadMatch MESH:D900001
is_a: TOY:0000001 ! All

[Term]
id: TOY:0000003
name: Deeply spotted skin
is_a: TOY:0000002

[Term]
id: TOY:0000004
name: Old finding
is_a: TOY:0000002
is_obsolete: true
replaced_by: TOY:0000003

[Term]
id: TOY:0000005
name: Older finding
is_obsolete: true
replaced_by: TOY:0000002
replaced_by: TOY:0000003

[Term]
id: TOY:0000009
name: Severe

[Term]
id: OTHER:1
name: Imported
"""

MONDO_OBO = """format-version: 1.2

[Term]
id: MONDO:0000001
name: spotty disease
xref: UMLS:C9000001 {source="MONDO:equivalentTo", source="MONDO:MEDGEN"}
xref: UMLS:C9000009 {source="MONDO:relatedTo"}
xref: DOID:1
"""

MESH_XML = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://example.org/nlmdescriptorrecordset.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord>
 <DescriptorUI>D900001</DescriptorUI><DescriptorName><String>Spot Diseases</String></DescriptorName>
 <TreeNumberList><TreeNumber>C17.900</TreeNumber></TreeNumberList>
 <ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M1</ConceptUI>
  <TermList><Term LexicalTag="NON"><String>Spot Diseases</String></Term></TermList></Concept></ConceptList>
</DescriptorRecord>
<DescriptorRecord>
 <DescriptorUI>D900002</DescriptorUI><DescriptorName><String>Spotted Skin</String></DescriptorName>
 <TreeNumberList><TreeNumber>C17.900.100</TreeNumber><TreeNumber>C23.888.900</TreeNumber></TreeNumberList>
 <ConceptList>
  <Concept PreferredConceptYN="Y"><ConceptUI>M2</ConceptUI>
   <ScopeNote>Skin that has
   spots.</ScopeNote>
   <ConceptRelationList>
    <ConceptRelation RelationName="NRW"><Concept1UI>M2</Concept1UI><Concept2UI>M3</Concept2UI>
    </ConceptRelation>
   </ConceptRelationList>
   <TermList>
    <Term LexicalTag="NON"><String>Spotted Skin</String></Term>
    <Term LexicalTag="NON" IsPermutedTermYN="Y"><String>Skin, Spotted</String></Term>
    <Term LexicalTag="ABB"><String>SPS</String></Term>
    <Term LexicalTag="NON"><String>Dotted Skin</String></Term>
   </TermList></Concept>
  <Concept PreferredConceptYN="N"><ConceptUI>M3</ConceptUI>
   <TermList><Term LexicalTag="NON"><String>Spotted Nose</String></Term></TermList></Concept>
 </ConceptList>
</DescriptorRecord>
<DescriptorRecord><DescriptorUI>nonsense</DescriptorUI></DescriptorRecord>
</DescriptorRecordSet>
"""

BABELON = (
    "source_language\ttranslation_language\tsubject_id\tpredicate_id\tsource_value\ttranslation_value\ttranslation_status\n"
    'en\tde\tTOY:0000002\trdfs:label\tSpotted skin\t"Gefleckte ""bunte"" Haut"\tOFFICIAL\n'
    "en\tde\tTOY:0000003\trdfs:label\tDeeply spotted skin\tTief gefleckte Haut\tCANDIDATE\n"
    "en\tde\tTOY:0000002\tIAO:0000115\tSkin with spots.\tHaut mit Flecken.\tOFFICIAL\n"
    "en\tde\tTOY:0000001\trdfs:label\tAll\tNA\tNOT_TRANSLATED\n"
    "en\tde\tno id\trdfs:label\tx\ty\tOFFICIAL\n"
    'en\tde\tTOY:0000012\trdfs:label\tOld\tHaut "mit Flecken" dazu\tOFFICIAL\n'
    "en\tde\tTOY:7777777\trdfs:label\tUnheard of\tUnerhört\tOFFICIAL\n"
)
SYNONYMS = (
    "subject_id\ttranslation_value\tsynonym_type\n"
    "ID\tAL oboInOwl:hasExactSynonym@de SPLIT=|\t>AI oboInOwl:hasSynonymType\n"
    "TOY:0000002\tFleckenhaut|Haut mit Tupfen\t\n"
)

SOURCES = (("HPO", "0", "ENG"), ("SNOMEDCT_US", "9", "ENG"), ("MSHGER", "3", "GER"), ("ICD10", "0", "ENG"))


def mrsab(sources: Iterable[tuple[str, str, str]] = SOURCES) -> str:
    """MRSAB lines: 25 columns and a trailing bar."""
    return "".join(
        f"||{sab}2026|{sab}|Title of {sab}|{sab}|2026|||2026AA||||{level}||||||{lat}|UTF-8|Y|Y|||\n"
        for sab, level, lat in sources
    )


def mrconso(
    cui: str,
    name: str,
    *,
    lat: str = "ENG",
    sab: str = "HPO",
    tty: str = "PT",
    code: str = "NOCODE",
    srl: str = "0",
    suppress: str = "N",
    preferred: bool = False,
    aui: str = "A1",
) -> str:
    """One MRCONSO line."""
    ts, ispref = ("P", "Y") if preferred else ("S", "N")
    return f"{cui}|{lat}|{ts}|L1|PF|S1|{ispref}|{aui}||||{sab}|{tty}|{code}|{name}|{srl}|{suppress}||\n"


def mrrel(one: str, rel: str, two: str, *, rela: str = "", sab: str = "HPO", suppress: str = "N") -> str:
    """One MRREL line."""
    return f"{one}|A1|AUI|{rel}|{two}|A2|AUI|{rela}|R1||{sab}|{sab}|||{suppress}||\n"


def metathesaurus() -> dict[str, str]:
    """A Metathesaurus of five concepts, by file name."""
    conso = [
        mrconso("C9000001", "Spotted skin", preferred=True, code="HP:9000001"),
        mrconso("C9000001", "Spotted skin", code="HP:9000001", aui="A2"),  # another atom, the same name
        mrconso("C9000001", "Skin, spotted|x".replace("|x", ""), tty="SY", code="HP:9000001"),
        mrconso(
            "C9000001", "Gefleckte Haut", lat="GER", sab="MSHGER", srl="3", code="D900002", preferred=True
        ),
        mrconso("C9000001", "Old spots", suppress="O"),
        mrconso("C9000001", "斑点皮肤", lat="CHI", preferred=True),
        mrconso("C9000002", 'Deeply "spotted" skin', sab="SNOMEDCT_US", srl="9", code="123", preferred=True),
        mrconso("C9000003", "Finding of skin", preferred=True),
        mrconso("C9000004", "Spotamycin", preferred=True),
        mrconso("C9000005", "Spots by another name", sab="ICD10", code="Z99.8", preferred=True),
    ]
    types = [("C9000001", "T033"), ("C9000002", "T033"), ("C9000003", "T033"), ("C9000004", "T121")]
    types += [("C9000005", "T047"), ("C9000001", "T184")]
    rel = [
        mrrel("C9000001", "PAR", "C9000003"),
        mrrel("C9000003", "CHD", "C9000001"),
        mrrel("C9000001", "CHD", "C9000002", rela="isa", sab="SNOMEDCT_US"),
        mrrel("C9000001", "SIB", "C9000005"),
        mrrel("C9000001", "RB", "C9000005", rela="inverse_isa"),
        mrrel("C9000005", "RN", "C9000001", rela="isa"),
        mrrel("C9000001", "RB", "C9000003", sab="SNOMEDCT_US"),
        mrrel("C9000001", "RO", "C9000004", rela="may_treat", sab="MED-RT"),
        mrrel("C9000004", "RO", "C9000001", rela="may_be_treated_by", sab="MED-RT"),
        mrrel("C9000001", "SY", "C9000005"),
        mrrel("C9000001", "AQ", "C9000004"),
        mrrel("C9000001", "RO", "C9000001"),
        mrrel("C9000001", "PAR", "C9000099"),
        mrrel("C9000002", "RQ", "C9000004", suppress="O"),
    ]
    cui = [
        "C9000070|2020AA|SY|||C9000001|Y|\n",
        "C9000071|2020AA|RB|||C9000001|Y|\n",
        "C9000072|2020AA|DEL|||||\n",
        "C9000002|2020AA|SY|||C9000001|Y|\n",  # live again
    ]
    return {
        "MRCONSO.RRF": "".join(conso),
        "MRSTY.RRF": "".join(f"{c}|{t}|A2.2|Name|AT1||\n" for c, t in types),
        "MRREL.RRF": "".join(rel),
        "MRDEF.RRF": "C9000001|A1|AT1||HPO|Skin with spots.|N||\n"
        "C9000001|A1|AT2||MSHGER|Haut mit Flecken.|N||\nC9000001|A1|AT3||HPO|Stale.|O||\n",
        "MRCUI.RRF": "".join(cui),
        "MRSAB.RRF": mrsab(),
    }


def write_metathesaurus(folder: Path, *, packed: bool = False) -> Path:
    """The small Metathesaurus in a folder, plain or as .gz."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in metathesaurus().items():
        data = text.encode("utf-8")
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))
        else:
            (folder / name).write_bytes(data)
    return folder
