"""Releases: gathered, assembled, audited, put in place."""
