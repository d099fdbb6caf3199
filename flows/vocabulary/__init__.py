"""Runs the readers of vocabularies, keeps what they read, and merges it: `medqrels vocabulary …`."""

from flows.vocabulary.store import Vocabulary, current

__all__ = ["Vocabulary", "current"]
