"""Settings of the repositories a crawl asks: where they are and how hard they may be pressed."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from schemas.address import is_private

PMC_ENDPOINT = "https://pmc-oa-opendata.s3.amazonaws.com/"


def _private(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = is_private(url) and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        raise ValueError("an endpoint is https://…; http:// is for servers on this machine alone")
    return url


Endpoint = Annotated[str, AfterValidator(_private)]
Rate = Annotated[float, Field(gt=0)]
Connections = Annotated[int, Field(ge=1, le=256)]


class _Host(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PmcSettings(_Host):
    """How to reach the PMC Cloud Service (reference: pmc.ncbi.nlm.nih.gov/tools/pmcaws/)."""

    endpoint: Endpoint = Field(PMC_ENDPOINT, description="base URL of the bucket")
    requests_per_second: Rate = Field(400.0, description="ceiling per host, in requests per second")
    connections: Connections = Field(32, description="articles fetched at the same time")


class EutilsSettings(_Host):
    """How to reach NCBI's E-utilities; 3 requests a second, 10 with a key."""

    endpoint: Endpoint = Field("https://eutils.ncbi.nlm.nih.gov/entrez/eutils/", description="base URL")
    api_key: SecretStr = Field(SecretStr(""), description="NCBI API key; never printed or recorded")
    tool: str = Field("medqrels", description="name sent as tool=")


class EuropePmcSettings(_Host):
    """How to reach Europe PMC."""

    endpoint: Endpoint = Field("https://www.ebi.ac.uk/europepmc/webservices/rest/", description="base URL")
    annotations_endpoint: Endpoint = Field(
        "https://www.ebi.ac.uk/europepmc/annotations_api/", description="base URL of the annotations"
    )
    requests_per_second: Annotated[float, Field(gt=0, le=5)] = Field(
        4.0, description="ceiling per host, at most 5"
    )
    connections: Annotated[int, Field(ge=1, le=8)] = Field(4, description="articles fetched at the same time")


class LitarchSettings(_Host):
    """How to reach NCBI Bookshelf's open access books."""

    endpoint: Endpoint = Field(
        "https://ftp.ncbi.nlm.nih.gov/pub/litarch/", description="base URL of the packages"
    )
    oai_endpoint: Endpoint = Field("https://api.ncbi.nlm.nih.gov/lit/oai/books/", description="Books OAI-PMH")
    requests_per_second: Annotated[float, Field(gt=0, le=3)] = Field(
        3.0, description="ceiling per host, at most 3"
    )
    max_archive_mib: Annotated[int, Field(ge=1)] = Field(
        4096, description="largest book package accepted, MiB"
    )


class OpenstaxSettings(_Host):
    """How to reach the OpenStax repositories on GitHub."""

    api_endpoint: Endpoint = Field(
        "https://api.github.com", description="resolves a branch or tag to a commit"
    )
    code_endpoint: Endpoint = Field("https://codeload.github.com", description="serves repository tarballs")
    max_archive_mib: Annotated[int, Field(ge=1)] = Field(
        4096, description="largest repository tarball accepted, MiB"
    )


class MedlineSettings(_Host):
    """How to reach PubMed's baseline and update files."""

    endpoint: Endpoint = Field("https://ftp.ncbi.nlm.nih.gov/pubmed/", description="base URL of the files")


class WikimediaSettings(_Host):
    """How to reach Wikimedia: Commons for the licences and bytes of images, and the dumps."""

    endpoint: Endpoint = Field(
        "https://commons.wikimedia.org/w/api.php", description="API of Wikimedia Commons"
    )
    files_endpoint: Endpoint = Field("https://upload.wikimedia.org/", description="where image files lie")
    dumps_endpoint: Endpoint = Field("https://dumps.wikimedia.org/", description="base URL of the dumps")
    max_dump_mib: Annotated[int, Field(ge=1)] = Field(65_536, description="largest dump file accepted, MiB")
    image_width: Annotated[int, Field(ge=64, le=4096)] = Field(
        1280, description="width in pixels at which drawings and very large images are rendered"
    )
    requests_per_second: Rate = Field(5.0, description="ceiling per host, in requests per second")
