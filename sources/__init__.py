"""Bytes in, Article out: one module per repository and per format, the polite client, the crawl ledger."""
