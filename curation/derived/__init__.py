"""What is made of finished tables: pools, distractors, subsets, diagnostics."""
