"""Vocabulary names in text: concept mentions with offsets."""
