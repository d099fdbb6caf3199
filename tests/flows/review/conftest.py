"""Fixtures of tests that need a real Label Studio."""

from tests.flows.review.label_studio_server import label_studio, own_label_studio

__all__ = ["label_studio", "own_label_studio"]
