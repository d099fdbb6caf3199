"""Comparing texts at scale: tokens, n-grams, fingerprints, near-duplicates."""
