"""PubMed on loopback: EFetch (db=pubmed), the baseline and update folders; records written for tests."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from sources.sample.loopback import LoopbackServer, Reply, Request

HEAD = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    b'"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)

FULL = """<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Automated">
    <PMID Version="1">101</PMID>
    <Article PubModel="Print">
      <Journal><ISSN IssnType="Print">0000-0000</ISSN>
        <JournalIssue CitedMedium="Print"><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate>
        </JournalIssue>
        <Title>Annales fictives</Title><ISOAbbreviation>Ann Fict</ISOAbbreviation></Journal>
      <ArticleTitle>[A case of <i>Example</i> fever &amp; CO<sub>2</sub> retention].</ArticleTitle>
      <ELocationID EIdType="doi" ValidYN="Y">10.5555/ELSEWHERE</ELocationID>
      <Abstract>
        <AbstractText Label="BACKGROUND" NlmCategory="AIM">Fever is <b>rare</b> (p&lt;0.05).</AbstractText>
        <AbstractText Label="UNLABELLED">It was treated.</AbstractText>
        <CopyrightInformation>© 1999 The Invented Society.</CopyrightInformation>
      </Abstract>
      <AuthorList CompleteYN="Y">
        <Author ValidYN="Y"><LastName>Muster</LastName><ForeName>Anna B</ForeName><Initials>AB</Initials>
          <Suffix>Jr</Suffix></Author>
        <Author ValidYN="N"><LastName>Wrong</LastName><ForeName>W</ForeName></Author>
        <Author ValidYN="Y"><CollectiveName>Fever Study Group</CollectiveName></Author>
      </AuthorList>
      <Language>fre</Language>
      <PublicationTypeList>
        <PublicationType UI="D002363">Case Reports</PublicationType>
        <PublicationType UI="D016428">Journal Article</PublicationType>
      </PublicationTypeList>
      <VernacularTitle>Un cas de fièvre d'exemple.</VernacularTitle>
      <ArticleDate DateType="Electronic"><Year>1999</Year><Month>02</Month><Day>03</Day></ArticleDate>
    </Article>
    <MedlineJournalInfo><Country>France</Country><MedlineTA>Ann Fict</MedlineTA></MedlineJournalInfo>
    <SupplMeshList><SupplMeshName Type="Disease" UI="C000001">Example syndrome</SupplMeshName></SupplMeshList>
    <CommentsCorrectionsList>
      <CommentsCorrections RefType="CommentIn"><RefSource>Ann Fict. 1999;2:5</RefSource>
        <PMID Version="1">102</PMID></CommentsCorrections>
      <CommentsCorrections RefType="ErratumIn"><RefSource>Ann Fict. 1999;2:6. doi: 10.5555/ERR.1</RefSource>
      </CommentsCorrections>
      <CommentsCorrections RefType="UpdateIn"><RefSource>Ann Fict. 2000;1:1</RefSource></CommentsCorrections>
    </CommentsCorrectionsList>
    <MeshHeadingList>
      <MeshHeading><DescriptorName UI="D000001" MajorTopicYN="N">Fever</DescriptorName>
        <QualifierName UI="Q000002" MajorTopicYN="Y">drug therapy</QualifierName>
        <QualifierName UI="Q000003" MajorTopicYN="N">genetics</QualifierName></MeshHeading>
      <MeshHeading><DescriptorName UI="D000004" MajorTopicYN="Y">Child</DescriptorName></MeshHeading>
    </MeshHeadingList>
    <OtherAbstract Type="Publisher" Language="fre">
      <AbstractText>La fièvre est rare.</AbstractText></OtherAbstract>
    <OtherAbstract Type="Publisher" Language="spa">
      <AbstractText>Abstract available from the publisher.</AbstractText></OtherAbstract>
    <OtherAbstract Type="plain-language-summary" Language="eng">
      <AbstractText>Some get hot.</AbstractText></OtherAbstract>
    <KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">fièvre</Keyword><Keyword MajorTopicYN="N"/>
    </KeywordList>
  </MedlineCitation>
  <PubmedData>
    <PublicationStatus>ppublish</PublicationStatus>
    <ArticleIdList><ArticleId IdType="pubmed">101</ArticleId>
      <ArticleId IdType="doi">10.5555/Own.101</ArticleId>
      <ArticleId IdType="pmc">PMC900101</ArticleId></ArticleIdList>
    <ReferenceList><Reference><Citation>Another one.</Citation>
      <ArticleIdList><ArticleId IdType="pubmed">55</ArticleId>
        <ArticleId IdType="doi">10.5555/other</ArticleId>
        <ArticleId IdType="pmc">PMC55</ArticleId></ArticleIdList></Reference></ReferenceList>
  </PubmedData>
</PubmedArticle>"""

BOOK = """<PubmedBookArticle>
  <BookDocument>
    <PMID Version="1">201</PMID>
    <ArticleIdList><ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList>
    <Book><Publisher><PublisherName>Invented Press</PublisherName></Publisher>
      <BookTitle book="fever">Fever Pages</BookTitle><PubDate><Year>2001</Year></PubDate>
      <AuthorList Type="editors"><Author><LastName>Editor</LastName></Author></AuthorList></Book>
    <ArticleTitle book="fever" part="one">Example fever</ArticleTitle><Language>eng</Language>
    <AuthorList Type="authors"><Author><LastName>Muster</LastName><Initials>A</Initials></Author></AuthorList>
    <PublicationType UI="D016454">Review</PublicationType>
    <Abstract><AbstractText Label="CLINICAL CHARACTERISTICS">Hot.</AbstractText></Abstract>
  </BookDocument>
  <PubmedBookData><ArticleIdList><ArticleId IdType="pubmed">201</ArticleId></ArticleIdList></PubmedBookData>
</PubmedBookArticle>"""


def simple(
    pmid: int | str, title: str = "A title", *, version: int = 1, language: str = "eng", **parts: str
) -> str:
    """A small record; `parts`: abstract, types (elements), links, data, in the places of those names."""
    abstract = (
        f"<Abstract><AbstractText>{parts['abstract']}</AbstractText></Abstract>"
        if "abstract" in parts
        else ""
    )
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate><Year>2020</Year></PubDate></JournalIssue></Journal>"
        f"<ArticleTitle>{title}</ArticleTitle>{abstract}<Language>{language}</Language>"
        f"<PublicationTypeList>{parts.get('types', '')}</PublicationTypeList></Article>"
        f"{parts.get('links', '')}</MedlineCitation>{parts.get('data', '')}</PubmedArticle>"
    )


def set_of(*records: str, deleted: tuple[int | str, ...] = ()) -> bytes:
    """A file's XML."""
    gone = "".join(f'<PMID Version="1">{pmid}</PMID>\n' for pmid in deleted)
    tail = f"<DeleteCitation>\n{gone}</DeleteCitation>\n" if gone else ""
    return HEAD + f"<PubmedArticleSet>\n{chr(10).join(records)}\n{tail}</PubmedArticleSet>\n".encode()


@dataclass
class FakePubmed(LoopbackServer):
    """Context manager; what it serves may change between requests.

    Attributes:
        records: XML by PMID.
        files: content by `baseline/pubmed26n0001.xml.gz` and so on; `.md5` files are made of them.
        faults: (what is asked for, its n-th request from 1) -> (status, body) instead, or None.
        asked: id lists of EFetch, and paths of files.
        forms: form fields.
    """

    records: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    faults: Callable[[str, int], tuple[int, bytes] | None] = lambda what, number: None
    asked: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Base URL of EFetch, and of the folders."""
        return f"{self.root}/"

    def answer(self, request: Request) -> Reply:
        """The reply to one request."""
        return Reply(*self._answer(request.path, request.fields if request.method == "POST" else None))

    def _answer(self, path: str, form: dict[str, str] | None) -> tuple[int, bytes]:
        what = path.strip("/")
        self.asked.append(form["id"] if form is not None else what)
        fault = self.faults(what, len(self.asked))
        if fault is not None:
            return fault
        if form is not None:
            self.forms.append(form)
            assert what == "efetch.fcgi" and form["db"] == "pubmed" and form["retmode"] == "xml"
            found = [self.records[pmid] for pmid in form["id"].split(",") if pmid in self.records]
            return 200, set_of(*found) if found else HEAD + b"<PubmedArticleSet></PubmedArticleSet>"
        if what in ("baseline", "updatefiles"):
            names = [name.split("/")[1] for name in self.files if name.startswith(f"{what}/")]
            links = "".join(
                f'<a href="{name}">{name}</a> <a href="{name}.md5">{name}.md5</a>\n' for name in names
            )
            return 200, f"<html><body><h1>Index of /pubmed/{what}</h1>{links}</body></html>".encode()
        name, is_md5 = what.removesuffix(".md5"), what.endswith(".md5")
        if name not in self.files:
            return 404, b""
        digest = hashlib.md5(self.files[name], usedforsecurity=False).hexdigest()
        return 200, f"MD5({name.split('/')[1]})= {digest}\n".encode() if is_md5 else self.files[name]


def packed(*records: str, deleted: tuple[int | str, ...] = ()) -> bytes:
    """A `.xml.gz` file."""
    return gzip.compress(set_of(*records, deleted=deleted), mtime=0)
