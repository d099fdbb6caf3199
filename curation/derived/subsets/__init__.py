"""Parts of a release: a nano variant with its rank correlation to the whole, and balanced subsets."""

from curation.derived.subsets.balance import SubsetSummary, make_subsets
from curation.derived.subsets.correlation import Correlation, SystemValues, correlate
from curation.derived.subsets.facts import facts
from curation.derived.subsets.nano import NanoOptions, NanoSummary, make_nano
from curation.derived.subsets.variants import VARIANTS, Variant, measure, reference

__all__ = [
    "VARIANTS",
    "Correlation",
    "NanoOptions",
    "NanoSummary",
    "SubsetSummary",
    "SystemValues",
    "Variant",
    "correlate",
    "facts",
    "make_nano",
    "make_subsets",
    "measure",
    "reference",
]
