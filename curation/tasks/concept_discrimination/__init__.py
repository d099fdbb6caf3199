"""Concept discrimination: a passage with one mention marked, and the right concept among eight documents."""
