"""Assemble, card, manifest and audit of a published release."""
