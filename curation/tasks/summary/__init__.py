"""Summary retrieval: from a figure and the text around it to the abstract of their article."""
