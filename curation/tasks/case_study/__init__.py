"""Case study retrieval: from a case to cases of other patients with the same diagnosis."""
