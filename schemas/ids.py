"""The id grammar: an id says where a record came from.

pmc:PMC123.1 · europepmc:PMC123 · litarch:NBK123 · openstax:microbiology/m58782 · medline:123 ·
wikimedia:enwiki/123 · doi:10.1/x · file:0123456789ab · …#fig1 · …#fig1.B (panel) · …#p17 · …#section3 ·
…#article · …#case1 · …#title · …#title2 (translated) · …#keyword1 · …#exercise1 (or its XML id).
`ID_VERSION` changes when a rule here changes, because published ids depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import quote

from schemas.errors import InputError
from schemas.hashing import sha256_text

ID_VERSION = 1

_PMCID = re.compile(r"(?:PMC)?([0-9]{1,12})", re.IGNORECASE)
_FRAGMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,99}")
_RESERVED = re.compile(
    r"(?:p|case|keyword)\d+|title|.*\.(?:[A-Za-z]|\d{1,2}|(?i:left|right|top|upper|middle|bottom|lower|inset).*)"
)
"""Fragments that are, or read as, a passage, case, keyword, title or panel (`F1.B`, `F1.left`)."""
_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_DOI_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:|info:doi/)", re.IGNORECASE)
_ARTICLE = re.compile(r"(?P<source>[a-z]+):(?P<name>[^#\s]+)")


def normalise_pmcid(text: str) -> str:
    """`123`, `pmc123` or `PMC123` as `PMC123`.

    Raises:
        InputError: not a PMCID.
    """
    found = _PMCID.fullmatch(text.strip())
    if not found:
        raise InputError(f"not a PMCID: {text.strip()[:80]!r}", hint="write PMC and digits, one id a line")
    return f"PMC{int(found.group(1))}"


def normalise_doi(text: str) -> str | None:
    """A DOI without resolver prefix, lower case (DOIs are case-insensitive), or None if it is not one."""
    bare = _DOI_PREFIX.sub("", text.strip()).rstrip(".").lower()
    return bare if _DOI.fullmatch(bare) else None


def pmc_article_id(pmcid: str, version: int) -> str:
    """`pmc:PMC123.1`."""
    return f"pmc:{normalise_pmcid(pmcid)}.{version}"


def folder_article_id(doi: str | None, sha256: str) -> str:
    """`doi:<doi>` when the article states a usable DOI, else `file:<first 12 hex of its SHA-256>`."""
    clean = normalise_doi(doi) if doi else None
    if clean and "#" not in clean:
        return f"doi:{clean}"
    return f"file:{sha256[:12]}"


def repository_id(source: str, *parts: str | int) -> str:
    """`openstax:microbiology/m58782`, `litarch:NBK123`, …: the repository's own keys, percent-encoded.

    Raises:
        InputError: a part is empty.
    """
    if not parts or not all(str(part).strip() for part in parts):
        raise InputError(f"an id of {source} needs every part of its key: {parts!r}")
    return f"{source}:" + "/".join(quote(str(part).strip(), safe=".-_~:()") for part in parts)


def family_key(article_id: str) -> str:
    """The article without its version: what partition and duplicate checks compare.

    Europe PMC serves the same articles as PMC under the same PMCIDs.
    """
    source, _, name = article_id.partition(":")
    if source == "europepmc" and _PMCID.fullmatch(name):
        return f"pmc:{name}"
    return f"{source}:{name.rsplit('.', 1)[0]}" if source == "pmc" else article_id


def article_of(any_id: str) -> str:
    """The article id inside a figure, panel, passage or case id."""
    return any_id.partition("#")[0]


def is_article_id(text: str) -> bool:
    """Whether `text` has the form of an article id."""
    return bool(_ARTICLE.fullmatch(text))


def figure_id(article_id: str, xml_id: str | None, number: int, taken: Collection[str]) -> str:
    """`…#<xml id>` if it is a valid, unique fragment no other kind of record could have, else `…#fig<n>`.

    Args:
        article_id: the article's id.
        xml_id: the element's id attribute, if any.
        number: 1-based position of the figure in document order.
        taken: ids of this article given so far.
    """
    return element_id(article_id, xml_id, f"fig{number}", taken)


def element_id(article_id: str, xml_id: str | None, fallback: str, taken: Collection[str]) -> str:
    """`…#<xml id>` if it is a valid, unique fragment no other kind of record could have, else `…#<fallback>`.

    Args:
        article_id: the article's id.
        xml_id: the element's id attribute, if any.
        fallback: kind and 1-based position in document order, e.g. `fig3`, `exercise12`.
        taken: ids of this kind in this article given so far.
    """
    if xml_id and _FRAGMENT.fullmatch(xml_id) and not _RESERVED.fullmatch(xml_id):
        candidate = f"{article_id}#{xml_id}"
        if candidate not in taken:
            return candidate
    candidate = f"{article_id}#{fallback}"
    suffix = 1
    while candidate in taken:  # another element's own XML id was that
        suffix += 1
        candidate = f"{article_id}#{fallback}-{suffix}"
    return candidate


def panel_id(of_figure: str, letter: str) -> str:
    """`….B`."""
    return f"{of_figure}.{letter}"


def passage_id(article_id: str, number: int) -> str:
    """`…#p17`, 1-based in document order."""
    return f"{article_id}#p{number}"


def section_id(article_id: str, number: int) -> str:
    """`…#section3`, 1-based in document order; 0 for what stands in none."""
    return f"{article_id}#section{number}"


def whole_id(article_id: str) -> str:
    """`…#article`: a whole article as one document."""
    return f"{article_id}#article"


def case_id(article_id: str, number: int) -> str:
    """`…#case1`, 1-based in reading order."""
    return f"{article_id}#case{number}"


def title_id(article_id: str, number: int = 1) -> str:
    """`…#title`; `…#title2` is the first translation."""
    return f"{article_id}#title{number if number > 1 else ''}"


def keyword_id(article_id: str, number: int) -> str:
    """`…#keyword1`, 1-based in the order given."""
    return f"{article_id}#keyword{number}"


def abstract_id(article_id: str, number: int) -> str:
    """`…#abstract1`, 1-based in the order given."""
    return f"{article_id}#abstract{number}"


def query_id(task: str, *content: str) -> str:
    """A query's id is the hash of its content, so equal queries are one query."""
    return f"{task}-{sha256_text(chr(31).join(content))[:16]}"
