"""Measurements beside the peers, and full campaigns. `make bench` runs all; results are committed as JSON."""
