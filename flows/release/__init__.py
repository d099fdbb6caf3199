"""Releases: gathered, written, derived, sealed, audited, put in place."""
