"""Retrieval systems run on releases."""
