"""A spec's [sources]: each key of each repository becomes its requests; what is wrong is told at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.crawl.repositories import REPOSITORIES, request_type
from flows.crawl.repositories.base import spec_keys
from flows.crawl.repositories.pmc import PmcRequest
from flows.specs import read_dataset, read_spec
from schemas.errors import UsageError
from tests.conftest import ROOT

ALL = """
pmc_ids = "ids.txt"
pmc_query = "fever"
pmc_since = "2024-01-31"
pmc_limit = 5
folders = ["one", "two"]
europepmc_ids = "ids.txt"
litarch = ["NBK547852"]
openstax = ["checkout", "openstax/osbooks-microbiology"]
medline_ids = "pmids.txt"
wikimedia = ["enwiki/20261101"]
questions = ["exams"]
"""


def spec(folder: Path, sources: str) -> Path:
    path = folder / "spec.toml"
    text = f'name = "a-b"\ntitle = "A title"\nlicence_profile = "noncommercial"\n[sources]\n{sources}'
    path.write_text(f"{text}\n[tasks.visual_context]\n", "utf-8")
    return path


def test_every_key_makes_its_requests(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    made = read_dataset(spec(tmp_path, ALL)).requests()
    assert {request.profile for request in made} == {"noncommercial"}
    told = [
        (request.source, request.model_dump(exclude_defaults=True, exclude={"profile"})) for request in made
    ]
    assert told == [
        ("pmc", {"ids": tmp_path / "ids.txt"}),
        ("pmc", {"query": "fever", "since": "2024-01-31", "limit": 5}),
        ("folder", {"path": tmp_path / "one"}),
        ("folder", {"path": tmp_path / "two"}),
        ("europepmc", {"ids": tmp_path / "ids.txt"}),
        ("medline", {"ids": tmp_path / "pmids.txt"}),
        ("litarch", {"book": "NBK547852"}),
        ("openstax", {"repository": str(tmp_path / "checkout")}),
        ("openstax", {"repository": "openstax/osbooks-microbiology"}),
        ("wikimedia", {"dump": "enwiki/20261101"}),
        ("questions", {"path": tmp_path / "exams"}),
    ]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ('pmc_id = "ids.txt"', "sources.pmc_id: no repository has this key"),
        ('gazette = ["a"]', "sources.gazette: no repository has this key"),
        ('folders = "one"', "sources.folders: a list belongs here"),
        ('pmc_ids = ["one"]', "sources.pmc_ids: one value, not a list, belongs here"),
        ('pmc_query = "a"\npmc_limit = 0', "sources.pmc_limit: should be greater than or equal to 1"),
        ('pmc_query = "a"\npmc_since = "May"', "sources.pmc_since: String should match pattern"),
    ],
)
def test_what_no_repository_takes_is_refused_when_the_spec_is_read(
    tmp_path: Path, sources: str, message: str
) -> None:
    path = spec(tmp_path, sources)
    with pytest.raises(UsageError) as caught:
        read_spec(path)
    assert caught.value.message.startswith(message)
    assert caught.value.attrs()["file"] == str(path)


def test_a_spec_without_sources_is_refused_by_a_run_alone(tmp_path: Path) -> None:
    dataset = read_dataset(spec(tmp_path, ""))
    with pytest.raises(UsageError, match="names no source"):
        dataset.requests()


def test_what_the_user_is_told_of_sources_is_complete() -> None:
    """docs/sources.md is written by hand; commands and keys are the requests'."""
    page = (ROOT / "docs" / "sources.md").read_text("utf-8")
    for source in REPOSITORIES:
        request = request_type(source)
        assert request.source == source
        assert f"`medqrels crawl {source} " in page
        assert not [key.name for key in spec_keys(request).values() if f"`{key.name}`" not in page]


def test_a_request_says_which_field_is_wrong_as_the_user_calls_it() -> None:
    with pytest.raises(UsageError, match=r"^--limit: "):
        PmcRequest.made({"limit": "many"}, {"limit": "--limit"})
