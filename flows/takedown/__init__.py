"""Takedown: what was published is withdrawn, and its absence can be proved."""
