"""Judging of pairs: what a model is asked of each, what it said in both orders, and what follows."""
