"""Caption words that name a kind of image: 3 points where a word can hardly mean another, 1 where it hints.

Kinds follow the ImageCLEF medical modality hierarchy (ImageCLEFmed; García Seco de Herrera and others
2013), coarser where pixels and captions cannot tell its leaves apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

KINDS: dict[str, str] = {
    "radiology": "DRUS DRMR DRCT DRXR DRAN DRPE DRCO: ultrasound, MR, CT, X-ray, angiography, PET, combined",
    "ophthalmology": "part of DVOR: fundus, slit lamp, optical coherence tomography",
    "endoscopy": "DVEN: endoscopy, laparoscopy, arthroscopy and the like",
    "photograph": "DVDM DVOR GNCP: skin, other organs and specimens, non-clinical photographs",
    "pathology": "DMLI: light microscopy of tissue and smears",
    "microscopy": "DMEL DMTR DMFL: electron, transmission and fluorescence microscopy",
    "signal": "DSEE DSEC DSEM: EEG, ECG, EMG",
    "rendering": "D3DR: three-dimensional reconstructions",
    "chart": "GFIG: statistical figures, graphs, charts",
    "diagram": "GFLO GSYS GHDR: flowcharts, system overviews, drawings",
    "gel": "GGEL: gels and blots",
    "table": "GTAB: tables and forms",
    "structure": "GCHE: chemical structures",
    "sequence": "GGEN: gene sequences, alignments, chromatograms",
    "equation": "GMAT: mathematics",
    "screenshot": "GSCR GPLI: screenshots, program listings",
    "compound": "COMP: panels of more than one kind",
}
"""The closed list of kinds with their ImageCLEF codes."""

STRONG, WEAK = 3, 1

_STRONG: dict[str, str] = {
    "radiology": r"(?:computed|computeri[sz]ed|positron emission|cone[- ]beam) tomogra\w+|(?-i:CT|CECT|"
    r"HRCT|CBCT|CTA|PET|SPECT|MRI|fMRI|MRA|MRCP|FLAIR|DWI|ADC)|(?-i:MR) (?:image\w*|scan\w*|angiogra\w+)|"
    r"magnetic resonance|T[12][- ]weighted|radiogra(?:ph|m)\w*|radiogra?fía\w*|radiografia\w*|"
    r"roentgenogra\w+|(?:chest |plain )?x[- ]?rays?(?! (?:crystal|diffract|photo|struct))|"
    r"(?:ultra)?sonogra\w+|ultrasound|ultra-?som|ecogra\w+|échogra\w+|echocardiogra\w+|doppler|"
    r"(?<!fluorescein )angiogra\w+|scintigra\w+|mammogra\w+|fluoroscop\w+|venogra\w+|cholangiogra\w+|"
    r"tomograf[ií]a\w*|r[eé]ss?on[aâ]n\w+ magn\w+|scanner (?:cérébral|thoracique|abdominal)",
    "ophthalmology": r"fundus(?:copic)?|funduscop\w+|slit[- ]lamp|optical coherence tomogra\w+|(?-i:OCT)|"
    r"fluorescein angiogra\w+|fundoscop\w+|retinogra\w+",
    "endoscopy": r"(?:[a-z]*endo|colono|gastro|duodeno|broncho|cysto|arthro|laparo|hystero|laryngo|"
    r"uretero|thoraco|sigmoido|entero|rhino)scop(?:y|ic|ies|ically|e view|ia)\w*",
    "photograph": r"photo(?:graph\w*|s)?|(?:clinical|intra-?operative) (?:image|picture|view|appearance|"
    r"aspect|finding)s?|gross (?:specimen|appearance|pathology|examination|image|view)\w*|macroscopic\w*|"
    r"resected specimen|dermoscop\w+|fotogra\w+|zdjęcie|portrait",
    "pathology": r"h(?:a?e)matoxylin\w*|(?-i:H ?& ?E|HE stain\w*)|histopatholog\w*|histolog\w+|"
    r"immunohistochem\w+|photomicrogra\w+|masson|(?-i:PAS|Giemsa)|papanicolaou|cytolog\w+|(?:blood|marrow|"
    r"peripheral) smear|bone marrow aspirate|original magnification",
    "microscopy": r"(?:electron|confocal|fluorescence|light[- ]sheet|super-resolution) (?:micro\w+)|"
    r"electron micrograph\w*|(?-i:TEM|EM) (?:image|section|micrograph|data)s?|in EM\b|immunofluorescen\w+|"
    r"(?-i:DAPI|FIB-?SEM)|live[- ]cell imaging|scanning electron",
    "signal": r"electro(?:cardio|encephalo|myo)gra\w+|(?-i:ECGs?|EKGs?|EEGs?|EMGs?)|rhythm strips?|"
    r"polysomnogra\w+",
    "rendering": r"(?:3-?D|three-dimensional|volume|surface)[- ](?:reconstruct\w+|render\w+|model\w*|"
    r"view\w*)|ribbon (?:diagram|representation)",
    "chart": r"(?:scatter|box|bar|violin|forest|funnel|volcano|dot|line|radar|density)?[- ]?plots?|"
    r"plotted|plotting|histograms?|(?:bar|pie|line|column) (?:chart|graph)s?|kaplan[- ]meier|(?-i:ROC)|"
    r"heat ?maps?|error bars?|(?:dose[- ]response|survival|growth|calibration|"
    r"precision[- ]recall) curves?|bars (?:show|represent|indicate)|(?:x|y)[- ]ax[ei]s|axis|venn|"
    r"wykres\w*|gráfico\w*",
    "diagram": r"flow ?-?(?:chart|diagram)s?|schematic\w*|schemes?|diagrams?|workflows?|(?-i:CONSORT|"
    r"PRISMA|DAG)|illustrations?|cartoons?|organi[sz]ation chart|drawing of|data model|pipeline|schema\w*|"
    r"schemat\w*|directed acyclic graph",
    "gel": r"(?:western|northern|southern|immuno)[- ]?blot\w*|(?-i:SDS-?PAGE)|electrophores\w+|agarose|"
    r"in-gel|gel image",
    "table": r"table (?:show|list)\w*",
    "structure": r"chemical structures?|structural formula\w*|molecular (?:structure|formula)\w*|"
    r"skeletal formula\w*|(?:stereo|structural |optical )?isomers?|enantiomers?",
    "sequence": r"sequence alignments?|multiple alignments?|sanger|electropherograms?|pherograms?|"
    r"chromatograms? of|sequencing chromatogram\w*",
    "equation": r"equations?",
    "screenshot": r"screen ?-?shots?|user interface|source code|code listing",
}
_WEAK: dict[str, str] = {
    "radiology": r"axial|sagittal|coronal|contrast[- ]enhanced|hypodens\w+|hyperdens\w+|hyperintens\w+|"
    r"hypointens\w+|echogenic\w*|hypoechoic|opacit(?:y|ies)|scans?|lucen\w+|radiolog\w+",
    "ophthalmology": r"retin\w+|macula\w*|cornea\w*|optic dis[ck]\w*|(?:right|left) eye",
    "photograph": r"lesions?|rash\w*|ulcer\w*|erythema\w*|swelling|surgical|surgery|plaques?|papules?|"
    r"hands?|face|preoperative|postoperative|appearance",
    "pathology": r"biops\w+|stain(?:ed|ing|s)?|nuclei|infiltrat\w+|×\s?\d{2,4}|\d{2,3}\s?×|x\d{2,4}|"
    r"microscop\w+|necrosis|positive for",
    "microscopy": r"scale bars?|fluorescen\w+|(?-i:[mr]?[GR]FP)|merged|micrograph\w*|segmentation|section|"
    r"synapses?|organelles?|arrowheads?",
    "rendering": r"3-?D|morpholog\w+|reconstruct\w+|surfaces?|render\w+",
    "chart": r"graphs?|curves?|distribution\w*|correlat\w+|regression|number of|proportion\w*|percent\w*|"
    r"mean|median|(?-i:P|p) ?[<=>]|n ?=|versus|vs|ratios?|rates?|levels?|expression|burden|income|"
    r"precision|recall|strength|frequenc\w+|score\w*|difference\w*|increas\w+|decreas\w+|analysis|"
    r"sensitivity|poziom\w*|energy",
    "diagram": r"overview|algorithm\w*|pathways?|process\w*|steps?|models?|mechanism\w*|cycle|map|"
    r"timeline|concept\w*|hypothe\w+|system|circuits?|connect\w+|motifs?|hierarch\w+|approach|inhibit\w+|"
    r"illustrate\w*",
    "gel": r"blots?|gels?|kDa|lanes?|loading control|actin|lysates?",
    "table": r"tables?|list(?:s|ed)? of|abbreviations|nomenclature|common",
    "structure": r"molecul\w+|compounds?|formula\w*|glucose|carbon|hydrogen|bonds?|atoms?|amino acids?",
    "equation": r"formula\w*",
    "sequence": r"sequenc\w+|nucleotides?|mutations?",
}

_PATTERNS: dict[tuple[str, int], re.Pattern[str]] = {
    (kind, points): re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    for points, table in ((STRONG, _STRONG), (WEAK, _WEAK))
    for kind, words in table.items()
}


def named_kinds(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield (kind, points, words found) for each kind and strength a text names, once each, in list order."""
    for (kind, points), pattern in _PATTERNS.items():
        found = sorted({match.group().casefold() for match in pattern.finditer(text)})
        if found:
            yield kind, points, ", ".join(found[:4])
