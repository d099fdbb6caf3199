"""Rows of cross-lingual question answering beside those that all tasks have."""

from __future__ import annotations

from typing import Literal

from schemas.benchmark import Evidence
from schemas.record import column, record
from schemas.vocabulary import Tier

Facet = Literal["definition", "cause", "presentation", "diagnosis", "treatment", "prognosis"]


@record
class FacetAnswer:
    """One passage that answers one facet of the concept it is about."""

    corpus_id: str = column("passage")
    concept: str = column("CURIE")
    facet: Facet = column("what of the concept it tells")
    rule: str = column("named, versioned rule")
    evidence: tuple[Evidence, ...] = column("the sentence that answers")


@record
class ConceptPassage:
    """One concept that a passage is about, names, or names something narrower than."""

    corpus_id: str = column("passage")
    concept: str = column("CURIE")
    how: Literal["about", "disputed", "mention", "narrower"] = column(
        "about: the passage's own subject; mention: merely named; narrower: about a concept below it; "
        "disputed: about one that some source alone has below it"
    )
    touches: tuple[str, ...] = column("facets with a word of theirs in the passage", default=())


@record
class IndexedAbstract:
    """One abstract as it is joined with the record that indexes it."""

    corpus_id: str = column("abstract")
    names: tuple[str, ...] = column("doi:…, pmid:…, pmcid:… of the article, sorted")
    touches: tuple[str, ...] = column("facets with a word of theirs in the abstract")
    evidence: tuple[Evidence, ...] = column("its first sentence: a heading speaks of the whole")


@record
class SearchedText:
    """One passage or abstract that may be a document."""

    id: str = column("passage or abstract")


@record
class IndexedConcept:
    """One disorder that a record is indexed with, by MeSH headings, or one above what it is about."""

    article_id: str = column("record with the headings")
    names: tuple[str, ...] = column("doi:…, pmid:…, pmcid:… of the record, sorted")
    concept: str = column("CURIE")
    how: Literal["about", "disputed", "mention", "narrower"] = column(
        "about: a main heading; mention: another; narrower: above a main; disputed: so to one source only"
    )
    facets: tuple[Facet, ...] = column("what main qualifiers say that the article tells", default=())
    minor: tuple[Facet, ...] = column("what further qualifiers say", default=())
    headings: tuple[str, ...] = column("as MEDLINE writes them, Asthma/*drug therapy", default=())


@record
class FacetDistractor:
    """A passage about the right concept on a far facet. It was not judged: hard, never a negative."""

    query_id: str = column("query")
    corpus_id: str = column("passage, neither positive nor excluded")
    rank: int = column("1-based, by hash: none is harder than another")
    why: str = column("what it shares with the query")
    shared: tuple[str, ...] = column("the concept")
    label_status: str = column("always unjudged")


@record
class AskedConcept:
    """One concept that passages answer facets of."""

    concept: str = column("CURIE")
    article_id: str = column("first of the articles that answer")
    facets: tuple[Facet, ...] = column("facets that some passage answers, sorted")
    is_synthetic: bool = column("made from synthetic input")


@record
class StringOrigin:
    """Where the words of a query come from: the frame of the sentence and the name in it, or human text."""

    query_id: str = column("query")
    language: str = column("BCP-47")
    kind: Literal["template", "human", "machine"] = column("how the text came about")
    template: str = column("id and version of the template, '' where there is none", default="")
    name: str = column("the vocabulary name as it stands in the query, unaltered", default="")
    start: int = column("offset in the query of the name, or of what is quoted")
    end: int = column("offset after it")
    concept: str = column("CURIE the name is of; of human text the one that its article is about, if one")
    source: str = column("source of the name, e.g. HPO_ES, or article of the text")
    release: str = column("release of the vocabulary as it states it", default="")
    record: str = column("title, abstract or caption that human text is", default="")
    license: str = column("SPDX id, or the name of the terms, that the name or the text is under")
    term_type: str = column("PT, SY, …; CAND for a translation that no one has confirmed")
    status: Literal["official", "candidate"] = column("whether its source calls the name confirmed")
    restriction: int = column("UMLS source restriction level, 0 elsewhere", default=0)
    tier: Tier = column("licence tier of the name")


@record
class RestrictedQuery:
    """A query with a restricted name: all that is needed to make it again from one's own vocabulary."""

    query_id: str = column("id it has once it is made")
    language: str = column("BCP-47")
    concept: str = column("CURIE of the target")
    facet: Facet = column("what is asked of it")
    template: str = column("id and version of the template")
    frame: str = column("text of the template; the name goes where {name} stands")
    source: str = column("source of the name")
    code: str = column("the concept's own id in that source")
    atom: str = column("UMLS atom (AUI) of the name, '' where its source is none of UMLS", default="")
    term_type: str = column("PT, SY, … of the name")
    name_sha256: str = column("hex SHA-256 of the name")
    text_sha256: str = column("hex SHA-256 of the whole text")
    article_id: str = column("article whose passages answer")
