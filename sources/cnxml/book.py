"""The book around a module: collection, other modules, and the module turned into JATS elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from schemas.article import RawArticle
from schemas.ids import repository_id
from sources.cnxml.collection import Collection, read_collection
from sources.cnxml.library import MODULE, Library, load_module
from sources.cnxml.translate import Translator
from sources.jats.nodes import UNDETERMINED, Element, child_text, language_of, normalise_language

COLLECTION = "collection"
"""Name of the part that holds the book's collection."""


@dataclass(frozen=True, slots=True)
class Translated:
    """One module as JATS elements, and what stands aside from its running text.

    Attributes:
        root: the module's `<document>`; its metadata are as they were.
        article: its content as an `<article>`.
        language: BCP-47, what the module states, else the collection.
        flags: of loading and translating.
        exercises, quizzes: left out of the running text; of the elements of `article`, in document order.
    """

    root: Element
    article: Element
    language: str
    flags: set[str]
    exercises: list[Element]
    quizzes: list[Element]


@dataclass(frozen=True, slots=True)
class Book:
    """What the modules of one call have in common.

    Attributes:
        collection: the book's own, or an empty one around a module that stands alone.
        library: the modules at hand, for links.
        files: their bytes by module id.
        article_id: article id of a module.
    """

    collection: Collection
    library: Library
    files: Mapping[str, bytes]
    article_id: Callable[[str], str]

    def translate(self, document: str) -> Translated:
        """Load one module anew and turn it into JATS elements.

        Raises:
            InputError: it cannot be used.
        """
        root, flags = load_module(self.files[document])
        language = _language(root, self.collection)
        translator = Translator(document, self.library, language, self.article_id)
        article = translator.article(root)
        return Translated(
            root, article, language, flags | translator.flags, translator.exercises, translator.quizzes
        )


def open_book(data: bytes, raw: RawArticle, parts: Mapping[str, bytes]) -> Book:
    """The book around a module; one without a collection stands alone.

    Args:
        data: bytes of the module.
        raw: what the crawl stored of it.
        parts: further files by name, as :func:`sources.cnxml.parse` takes them.

    Raises:
        InputError: the collection cannot be read.
    """
    if COLLECTION in parts:
        collection = read_collection(parts[COLLECTION])
    else:
        collection = Collection(raw.book.title if raw.book else "", UNDETERMINED, (), "", "", ())
    files = {name.removeprefix(MODULE): each for name, each in parts.items() if name.startswith(MODULE)}
    own = document_of(raw)
    files[own] = data
    slug = raw.book.book_id if raw.book else raw.locator.rpartition("/")[0]

    def article_id(other: str) -> str:
        return raw.id if other == own else repository_id(raw.source, *filter(None, (slug, other)))

    return Book(collection, Library(collection, files), files, article_id)


def document_of(raw: RawArticle) -> str:
    """Module id of a stored module."""
    return raw.locator.rpartition("/")[2]


def _language(root: Element, collection: Collection) -> str:
    """What the module states in its metadata or root, else what the collection states."""
    stated = normalise_language(child_text(root.find("metadata"), "language"))
    if stated == UNDETERMINED:
        stated = language_of(root) or collection.language
    return stated
