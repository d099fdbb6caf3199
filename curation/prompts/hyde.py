"""HyDE: a passage that would answer the query, to search with in its place.

After Gao et al. 2022 (arXiv 2212.10496), the wording is ours. The passage is invented: it is no evidence and
no document, and a search with it is a search with the model's own knowledge.
"""

from __future__ import annotations

from curation.prompts.kind import Kind
from curation.prompts.texts import NotUsed, check_text

HYDE = Kind(
    name="hyde",
    version=1,
    meaning="an invented passage that would answer the query, to search with in its place",
    role="You help to search a collection of medical texts.",
    instructions="""\
The material is {query}. What is looked for is {document}, one of which it can be said that {need}.
Write what it would say, as it could stand in the collection, in the language of the material: the passage \
alone, 60 to 150 words, without a title, not called an example, and without repeating the material.""",
    field="passage",
    max_tokens=512,
    check=check_text,
    reasons=NotUsed,
    search="in_place",
)
