"""Measuring retrieval systems on a published release: reading, searching, run files, measures, statistics.

Pure: published Parquet and rows in, rankings and numbers out. Models are called in flows/adapters.
"""
