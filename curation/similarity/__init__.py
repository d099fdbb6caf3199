"""Texts and images compared at scale."""
