"""Other people's concept finders behind our own interface: QuickUMLS and scispaCy.

Each prepares its index from the vocabulary's Parquet and needs no network; each is imported when it is used.
"""
