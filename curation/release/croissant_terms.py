"""The names that croissant.json may use, from the specifications: readers pass over any other in silence.

Croissant 1.1 (http://mlcommons.org/croissant/1.1), its vocabulary of responsible AI
(http://mlcommons.org/croissant/RAI/1.0), schema.org, and W3C PROV-O (https://www.w3.org/TR/prov-o/).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CROISSANT = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"
FILE = "croissant.json"

CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "prov": "http://www.w3.org/ns/prov#",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The recommended context with PROV-O: a reader warns of a context that lacks one of its terms."""

RAI_NAMES = frozenset(
    f"rai:{name}"
    for name in (
        *("dataCollection", "dataCollectionType", "dataCollectionMissingData", "dataCollectionRawData"),
        *("dataCollectionTimeframe", "dataImputationProtocol", "dataPreprocessingProtocol"),
        *("dataManipulationProtocol", "dataAnnotationProtocol", "dataAnnotationPlatform"),
        *("dataAnnotationAnalysis", "dataReleaseMaintenancePlan", "personalSensitiveInformation"),
        *("dataSocialImpact", "dataBiases", "dataLimitations", "dataUseCases", "annotationsPerItem"),
        *("annotatorDemographics", "machineAnnotationTools"),
    )
)
PROV_NAMES = frozenset(
    f"prov:{name}"
    for name in (
        *("wasDerivedFrom", "wasGeneratedBy", "wasAttributedTo", "wasAssociatedWith", "wasRevisionOf"),
        *("used", "label"),
    )
)
REQUIRED = (
    *("conformsTo", "name", "description", "url", "license", "creator", "version", "citeAs"),
    *("distribution", "recordSet"),
    *("rai:dataCollection", "rai:dataAnnotationProtocol", "rai:dataBiases", "rai:dataLimitations"),
    *("rai:personalSensitiveInformation", "rai:dataUseCases"),
    *("prov:wasDerivedFrom", "prov:wasGeneratedBy", "prov:wasAttributedTo"),
)
"""What every croissant.json of ours says; `datePublished` too, where the spec gives a year."""

_PROV = PROV_NAMES | {"@type", "@id", "name", "description", "version", "url", "license", "sha256", "value"}
PROPERTIES: Mapping[str, frozenset[str]] = {
    "sc:Dataset": frozenset(
        {
            *("@context", "@type", "conformsTo", "name", "description", "url", "license", "creator"),
            *("publisher", "datePublished", "version", "citeAs", "identifier", "inLanguage", "keywords"),
            *("isLiveDataset", "distribution", "recordSet"),
            *RAI_NAMES,
            *PROV_NAMES,
        }
    ),
    "cr:FileObject": frozenset(
        {"@type", "@id", "name", "contentUrl", "contentSize", "encodingFormat", "sha256"}
    ),
    "cr:FileSet": frozenset({"@type", "@id", "name", "description", "encodingFormat", "includes"}),
    "cr:RecordSet": frozenset({"@type", "@id", "name", "description", "key", "field", *PROV_NAMES}),
    "cr:Field": frozenset(
        {
            *("@type", "@id", "name", "description", "dataType", "source", "isArray", "arrayShape"),
            *("subField", "references", "equivalentProperty"),
        }
    ),
    "sc:Person": frozenset({"@type", "name"}),
    "sc:Organization": frozenset({"@type", "name"}),
    **{f"prov:{kind}": _PROV for kind in ("Entity", "Activity", "Agent", "SoftwareAgent", "Organization")},
    "": frozenset(
        {"@id", "fileSet", "field", "extract", "transform", "column", "fileProperty", "jsonPath", "regex"}
    ),
}
"""Type of a node -> the properties it may have; '' for nodes without a type: sources and references."""
DATA_TYPES = frozenset(
    {"sc:Text", "sc:Boolean", "sc:ImageObject", "cr:Int64", "cr:Float64", "cr:Split", "cr:Label"}
)
EQUIVALENT = {
    "license": "https://schema.org/license",
    "language": "https://schema.org/inLanguage",
    "article_id": "http://www.w3.org/ns/prov#wasDerivedFrom",
    "source_id": "http://www.w3.org/ns/prov#wasDerivedFrom",
}
"""Column -> what it says of its row in another vocabulary."""
