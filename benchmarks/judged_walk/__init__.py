"""The three tasks that need reasoning, made by commands of shared articles, with answers written by hand."""
