"""Settings of the repositories a crawl asks: where they are and how hard they may be pressed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

PMC_ENDPOINT = "https://pmc-oa-opendata.s3.amazonaws.com/"

Rate = Annotated[float, Field(gt=0)]
Connections = Annotated[int, Field(ge=1, le=256)]


class _Host(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PmcSettings(_Host):
    """How to reach the PMC Cloud Service (reference: pmc.ncbi.nlm.nih.gov/tools/pmcaws/)."""

    endpoint: str = Field(PMC_ENDPOINT, description="base URL of the bucket")
    requests_per_second: Rate = Field(400.0, description="ceiling per host, in requests per second")
    connections: Connections = Field(32, description="articles fetched at the same time")


class EutilsSettings(_Host):
    """How to reach NCBI's E-utilities; 3 requests a second, 10 with a key."""

    endpoint: str = Field("https://eutils.ncbi.nlm.nih.gov/entrez/eutils/", description="base URL")
    api_key: SecretStr = Field(SecretStr(""), description="NCBI API key; never printed or recorded")
    tool: str = Field("medqrels", description="name sent as tool=")


class EuropePmcSettings(_Host):
    """How to reach Europe PMC."""

    endpoint: str = Field("https://www.ebi.ac.uk/europepmc/webservices/rest/", description="base URL")
    annotations_endpoint: str = Field(
        "https://www.ebi.ac.uk/europepmc/annotations_api/", description="base URL of the annotations"
    )
    requests_per_second: Annotated[float, Field(gt=0, le=5)] = Field(
        4.0, description="ceiling per host, at most 5"
    )
    connections: Annotated[int, Field(ge=1, le=8)] = Field(4, description="articles fetched at the same time")


class LitarchSettings(_Host):
    """How to reach NCBI Bookshelf's open access books."""

    endpoint: str = Field("https://ftp.ncbi.nlm.nih.gov/pub/litarch/", description="base URL of the packages")
    oai_endpoint: str = Field("https://api.ncbi.nlm.nih.gov/lit/oai/books/", description="Books OAI-PMH")
    requests_per_second: Annotated[float, Field(gt=0, le=3)] = Field(
        3.0, description="ceiling per host, at most 3"
    )
    max_archive_mib: Annotated[int, Field(ge=1)] = Field(
        4096, description="largest book package accepted, MiB"
    )


class OpenstaxSettings(_Host):
    """How to reach the OpenStax repositories on GitHub."""

    api_endpoint: str = Field("https://api.github.com", description="resolves a branch or tag to a commit")
    code_endpoint: str = Field("https://codeload.github.com", description="serves repository tarballs")
    max_archive_mib: Annotated[int, Field(ge=1)] = Field(
        4096, description="largest repository tarball accepted, MiB"
    )


class MedlineSettings(_Host):
    """How to reach PubMed's baseline and update files."""

    endpoint: str = Field("https://ftp.ncbi.nlm.nih.gov/pubmed/", description="base URL of the files")


class WikimediaSettings(_Host):
    """How to reach Wikimedia: Commons for the licences and bytes of images, and the dumps."""

    endpoint: str = Field("https://commons.wikimedia.org/w/api.php", description="API of Wikimedia Commons")
    files_endpoint: str = Field("https://upload.wikimedia.org/", description="where image files lie")
    dumps_endpoint: str = Field("https://dumps.wikimedia.org/", description="base URL of the dumps")
    max_dump_mib: Annotated[int, Field(ge=1)] = Field(65_536, description="largest dump file accepted, MiB")
    image_width: Annotated[int, Field(ge=64, le=4096)] = Field(
        1280, description="width in pixels at which drawings and very large images are rendered"
    )
    requests_per_second: Rate = Field(5.0, description="ceiling per host, in requests per second")
