"""Query2Doc: a short text of what a query's answer holds, to search with beside it.

After Wang et al. 2023 (arXiv 2303.07678), without its worked examples: they come from a collection that may
be searched. The text is invented, as that of curation/prompts/hyde.py is; the wording is ours.
"""

from __future__ import annotations

from curation.prompts.kind import Kind
from curation.prompts.texts import NotUsed, check_text

QUERY2DOC = Kind(
    name="query2doc",
    version=1,
    meaning="a short invented text with the terms of an answer, to search with beside the query",
    role="You help to search a collection of medical texts.",
    instructions="""\
The material is {query}. Write what a text that answers it would say, in the language of the material: the \
facts and the terms a specialist would use, 40 to 80 words, without repeating the material.""",
    field="text",
    max_tokens=384,
    check=check_text,
    reasons=NotUsed,
    search="beside",
)
