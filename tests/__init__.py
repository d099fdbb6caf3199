"""Tests; a regular package, because some distributions install a top-level `tests` of their own."""
