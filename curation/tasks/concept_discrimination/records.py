"""Rows of concept discrimination: what authors linked, the concepts beside it, and why not others."""

from __future__ import annotations

from typing import Literal

from schemas.record import column, record
from schemas.vocabulary import Tier

How = Literal["keyword", "title"]
Kin = Literal["sibling", "cousin", "far"]
"""How a member stands to the gold concept: child of one parent, grandchild of one grandparent, or neither."""
Status = Literal["official", "candidate"]


@record
class Link:
    """A keyword or title that names something which a passage of the same article says, too."""

    id: str = column("id of the keyword or title")
    article_id: str = column("article")
    name: str = column("what the author wrote, without a short form in brackets")
    language: str = column("BCP-47")
    how: How = column("where the author wrote it")


@record
class Anchor:
    """The marked mention of one query."""

    query_id: str = column("query")
    link_id: str = column("id of the keyword or title it goes by")
    article_id: str = column("article")
    name: str = column("what the author wrote there")
    language: str = column("BCP-47")
    surface: str = column("the marked words as they stand in the passage")
    start: int = column("offset of the words in the query's text, behind the opening mark")
    end: int = column("offset after them")
    matched: str = column("concept that grounding found at these words, '' for none", default="")


@record
class NamedAnchor:
    """An anchor, and what its name means in the vocabulary."""

    query_id: str = column("query")
    link_id: str = column("id of the keyword or title it goes by")
    article_id: str = column("article")
    language: str = column("primary subtag of the language that it is written in")
    surface: str = column("the marked words")
    matched: str = column("concept that grounding found at these words, '' for none")
    concepts: int = column("concepts that have the name")
    concept: str = column("the one that has it, '' where none or several have")


@record
class ConceptNumber:
    """A concept as the hierarchy is searched by."""

    concept: str = column("CURIE")
    number: int = column("its place among all")


@record
class Edge:
    """One step up in the hierarchy."""

    child: int = column("concept")
    parent: int = column("concept above it")


@record
class DefinedConcept:
    """One concept with the best of its definitions, fit to be a document or not."""

    concept: str = column("CURIE")
    text: str = column("the definition as its source writes it")
    source: str = column("abbreviation of the source")
    flaw: str = column("why it is no document: it defines another concept, or says no more than the name")


@record
class Definition:
    """One concept with the definition that may be its document."""

    number: int = column("concept")
    concept: str = column("CURIE")
    text: str = column("the definition as its source writes it")
    folded: str = column("the same without case and punctuation, a space at both ends")
    words: int = column("words of the text")
    band: int = column("length band")
    source: str = column("abbreviation of the source")
    group: str = column("semantic group, the first of several")
    names: int = column("names of its own in the language")
    name_band: int = column("band of that count")
    articles: int = column("articles of the crawl that name it")
    fame: int = column("band of that count")
    languages: int = column("a bit for each other language that it has a name in")
    open_languages: int = column("the same of names that may be published")
    depth: int = column("steps from the top of the hierarchy, the shortest way")


@record
class CommonWord:
    """A word that the names of so many concepts have that it tells none from another."""

    word: str = column("without case")
    concepts: int = column("concepts that have it in a name, in this inflection")


@record
class Gold:
    """The concept of one query."""

    query_id: str = column("query")
    number: int = column("concept")
    language: str = column("primary subtag of the language of the marked words")
    surface: str = column("the marked words without case and punctuation")
    form: str = column("the form in which they are compared: stems, or short words in capitals")
    common: tuple[str, ...] = column("words of that form that too many concepts' names have")
    is_shared: bool = column("they, or another word of theirs, stand in the concept's document")


@record
class EarlierMember:
    """A member of a set that the dataset's newest release has."""

    query_id: str = column("query")
    concept: str = column("CURIE")
    kin: str = column("how it stands to the gold concept; itself for the gold one")


@record
class Screened:
    """A concept that could stand beside the gold one, and why it may not, as far as its own rows tell."""

    query_id: str = column("query")
    gold: int = column("the query's concept")
    number: int = column("the other concept")
    kin: Kin = column("how it stands to the gold concept")
    via: int = column("the concept both are below, 0 for far ones")
    is_seed: bool = column("ICD-10-CM excludes the two from each other (Excludes1)")
    place: int = column("order in which members are taken")
    reason: str = column("why it may not, '' if it may")
    detail: str = column("what was seen", default="")


@record
class Checked:
    """The same after the hierarchy above and below both was looked through."""

    query_id: str = column("query")
    kin: Kin = column("how it stands to the gold concept")
    number: int = column("the other concept")
    concept: str = column("CURIE")
    via: str = column("CURIE of the concept both are below, '' for far ones")
    is_seed: bool = column("ICD-10-CM excludes the two from each other (Excludes1)")
    place: int = column("order in which members are taken; 0 where it was rejected before")
    reason: str = column("why it may not, '' if it may")
    detail: str = column("what was seen", default="")


@record
class ConfusionSet:
    """What a query's set is made of."""

    query_id: str = column("query")
    kin: str = column("near or far")
    is_shared: bool = column("the marked words, or one that is not common, stand in the gold document")
    tier: str = column("tier, a function of the two; '' where the marked words are not English")
    place: int = column("order among the sets of one passage, of which the first is asked about")


@record
class Confusion:
    """One of the eight documents of a query's set."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    concept: str = column("CURIE")
    role: Literal["gold", "member"] = column("gold: the concept that the marked words name")
    kin: str = column("itself, sibling, cousin or far")
    via: str = column("CURIE of the parent or grandparent both are below, '' where there is none")
    surface_distance: int = column("thousandths: 0 where a name of the concept is the marked words")
    names: int = column("names of the concept in the language")
    depth: int = column("steps from the top of the hierarchy, the shortest way")
    languages: int = column("other languages that it has names in")
    articles: int = column("other articles of the crawl than the query's own that name it")
    above: tuple[str, ...] = column("CURIEs within two steps above it, itself too, sorted")
    further: tuple[str, ...] = column("CURIEs three steps above it, by the shortest way, sorted")
    below: tuple[str, ...] = column("CURIEs of all that is below it, itself too, sorted")
    name_hashes: tuple[str, ...] = column("its names' forms, hashed with the query's id, sorted")
    id_hashes: tuple[str, ...] = column("the ids that it is mapped to, hashed with the query's id, sorted")
    common: tuple[str, ...] = column("of the gold concept: marked words that too many concepts' names have")


@record
class NameInLanguage:
    """The name that a concept of a set has in a language: the best in its script, else the best of all."""

    concept: str = column("CURIE")
    language: str = column("BCP-47")
    name: str = column("the name as the vocabulary writes it")
    source: str = column("source of the name, e.g. HPO_ES")
    code: str = column("the concept's own id in that source")
    atom: str = column("UMLS atom (AUI) of the name, '' where its source is none of UMLS", default="")
    term_type: str = column("PT, SY, …; CAND for a translation that no one has confirmed")
    restriction: int = column("UMLS source restriction level, 0 elsewhere")
    tier: Tier = column("licence tier of the name")
    is_in_script: bool = column("whether it is in the script of the language")


@record
class AskedSet:
    """One set in one language, and why it cannot be asked in it."""

    id: str = column("query and language: `<query id>/ja`")
    query_id: str = column("query")
    article_id: str = column("article of the query")
    document_language: str = column("BCP-47")
    status: Status = column("candidate: some name is a translation that no one has confirmed")
    reason: str = column("why not, '' if it can")
    detail: str = column("concepts that it is for", default="")


@record
class NamedSet:
    """One set that is asked in a language: its eight documents are names in it."""

    id: str = column("query and language: `<query id>/ja`")
    query_id: str = column("query")
    document_language: str = column("BCP-47")
    status: Status = column("candidate: some name is a translation that no one has confirmed")


@record
class NamedDocument:
    """A document in one language: the name of its concept, under the id of its definition."""

    id: str = column("document id, that of the concept's definition")
    title: str = column("always ''")
    text: str = column("the name as the vocabulary writes it")
    language: str = column("BCP-47")
    license: str = column("SPDX id")
    license_evidence: str = column("where the licence was read")
    is_synthetic: bool = column("made from synthetic input")
    article_id: str = column("the vocabulary's source, to be credited")
    concept: str = column("CURIE")
    source: str = column("source of the name, e.g. HPO_ES")
    code: str = column("the concept's own id in that source")
    atom: str = column("UMLS atom (AUI) of the name, '' where its source is none of UMLS")
    term_type: str = column("PT, SY, …; CAND for a translation that no one has confirmed")
    status: Status = column("whether its source calls the name confirmed")
    restriction: int = column("UMLS source restriction level, 0 elsewhere")
    tier: Tier = column("licence tier of the name")
    text_sha256: str = column("hex SHA-256 of the name")


@record
class NamedLabel:
    """The gold document of a set in a language."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    document_language: str = column("BCP-47")


@record
class NameRecipe:
    """One document of a set with a restricted name: what is needed to make it from one's own vocabulary."""

    query_id: str = column("query")
    corpus_id: str = column("document")
    document_language: str = column("BCP-47")
    concept: str = column("CURIE")
    text: str = column("the name, '' where it is restricted")
    license: str = column("SPDX id of the name")
    status: Status = column("whether its source calls the name confirmed")
    source: str = column("source of the name")
    code: str = column("the concept's own id in that source")
    atom: str = column("UMLS atom (AUI) of the name, '' where its source is none of UMLS")
    term_type: str = column("PT, SY, … of the name")
    tier: Tier = column("licence tier of the name")
    text_sha256: str = column("hex SHA-256 of the name")
