"""How the captions of an article are released, and which of them may ask.

Every document of the article is published under its title, so a caption may hold neither a copy of the title
nor the name that the title gives the study.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from curation.extract.neutralise import neutralise_caption
from curation.similarity.text.edited import copyable, edited_copies
from curation.tasks.shared.bars import Bar
from curation.tasks.shared.general_words import stems
from curation.tasks.shared.study_names import Names, names_of, unnamed
from curation.tasks.shared.words import word_count
from curation.tasks.visual_context.vague import vagueness
from schemas.benchmark import Transform
from schemas.extracted import Figure, Passage, Source
from schemas.stages import Reason

_LEAST_OF_TITLE = 8
"""Words of a title that tell one article: a shorter one may be no more than the disease's name."""


@dataclass(frozen=True, slots=True)
class Captions:
    """What is known of an article's captions: the names of its study, the words its passages say."""

    source: Source
    names: Names
    said: frozenset[str]

    @classmethod
    def of(cls, source: Source, figures: Iterable[Figure], passages: Iterable[Passage]) -> Captions:
        """The captions of one article."""
        texts = [passage.text for passage in passages]
        names = names_of([source.title], (), [*texts, *(figure.caption for figure in figures)])
        return cls(source, names, frozenset(word for text in texts for word in stems(text)))

    def released(self, caption: str) -> tuple[str, tuple[Transform, ...]]:
        """A caption without pointers to figures and without the study's name, and the changes made."""
        return unnamed(*neutralise_caption(caption, self.source.language), self.names)

    def bar(self, text: str, least: int) -> Bar | None:
        """Why a released caption may not ask, or None: too short, vague, or a copy of the title.

        Args:
            text: as released.
            least: words it must have.
        """
        if word_count(text) < least:
            return Reason.SHORT_CAPTION, f"{word_count(text)} words"
        if vague := vagueness(text, self.source, self.said):
            return Reason.VAGUE_CAPTION, vague
        title = self.source.title
        if word_count(title) >= _LEAST_OF_TITLE and edited_copies(text, copyable([title])):
            return Reason.SELF_MATCH, "of the title"
        return None
