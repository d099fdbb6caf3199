"""Vignettes without their answer, and the passages that support the answer and the reasoning behind it."""
