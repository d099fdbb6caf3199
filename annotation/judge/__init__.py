"""The LLM judge: prompts from candidates, grades from answers, and how far it agrees with clinicians.

Pure: a model is asked by flows/adapters/llm.py only. A judge sorts work and gives a third opinion; it is no
expert.
"""
