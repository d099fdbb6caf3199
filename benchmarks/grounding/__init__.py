"""Grounding: the native matcher beside its peers, on generated vocabularies and public gold."""
