"""Agreement between annotators, what reviewed samples say about rules and rankings, and how many to review.

Pure arithmetic on arrays and rows. docs/agreement.md says what each figure means.
"""
