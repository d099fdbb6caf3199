"""Releases in the formats of other tools: the same rows, the excluded pairs beside them."""
