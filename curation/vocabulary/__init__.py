"""Vocabularies: readers of UMLS, OBO, MeSH, babelon and ICD-10 into one set of records, and their merge."""
