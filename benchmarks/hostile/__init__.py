"""Damages to each source format; every module has `mutants` or seed files, and `outcome` of one mutant."""
