"""What language models are asked: one file per kind of prompt, with its answer schema, parser and checks.

Pure: a model is asked by flows/adapters alone. Source text is data: it stands between lines that only its own
prompt can have, and what stands outside them is the same whatever the text says.
"""
