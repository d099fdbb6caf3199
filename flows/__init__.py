"""Wiring: the only package that knows Prefect, settings, the workspace and the command line."""
