"""Patient cases: which articles report them, where each patient's story stands, what it says."""
