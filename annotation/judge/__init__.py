"""The LLM judge beside clinicians: how far it agrees, whom it favours, what people should see first.

What it is asked, and how its answers become grades, is curation/prompts/relevance.py. A judge sorts work and
gives a third opinion; it is no expert.
"""
