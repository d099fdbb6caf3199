"""Rows of released tasks read by a developer: one JSON line per judged row, without any article text."""
