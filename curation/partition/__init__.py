"""Gives every query to one split of one task, so that no two of them share a key (schemas.overlap_policy)."""
