"""Visual context retrieval: from a figure and its caption to the passages that discuss it."""
