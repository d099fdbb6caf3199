"""What runs on the shared data runs on the sample too, and no task is left out of what newcomers run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from flows.specs import DATA_CARDS, read_spec
from tests.pipeline import LABELLED

SHIPPED = ("medqrels-open", "medqrels-sample")


def test_every_test_on_shared_data_has_a_sibling_on_the_sample(request: pytest.FixtureRequest) -> None:
    """Either it is one of several by place (`library`, `gold`, `grounded`), or it names the other.

    Holds for the tests collected with this one: in a run of all tests, for all.
    """
    lacking = []
    names = {(item.path, getattr(item, "originalname", item.name)): item for item in request.session.items}
    for (path, name), item in names.items():
        if "shared_data" not in getattr(item, "fixturenames", ()):
            continue
        marker = item.get_closest_marker("sibling")
        other = marker.args[0] if marker else ""
        there = other != name and callable(getattr(getattr(item, "module", None), other, None))
        sibling = names.get((path, other))
        if not there or (sibling and "shared_data" in getattr(sibling, "fixturenames", ())):
            lacking.append(f"{item.nodeid}: sibling {other or 'not named'}")
    assert lacking == []


def test_shared_data_is_reached_by_its_fixture_alone(repository: Path) -> None:
    """A path written out would go round the rule above."""
    place = re.compile(
        r"SHARED_DATA\b|[\"']shared[\"'] */ *[\"']data|[\"'/]shared/data\b"
        r"|benchmarks[^\n]*import[^\n]*\bSHARED\b"
    )
    found = [
        path.relative_to(repository).as_posix()
        for path in sorted((repository / "tests").rglob("*.py"))
        if place.search(path.read_text("utf-8"))
    ]
    assert found == ["tests/conftest.py", Path(__file__).relative_to(repository).as_posix()]


def test_who_asks_for_shared_data_by_name_has_the_sample_beside_it(repository: Path) -> None:
    """A fixture that takes it by name has parameters, the sample among them."""
    for path in sorted((repository / "tests").rglob("*.py")):
        if path == Path(__file__):
            continue
        text = path.read_text("utf-8")
        for asked in re.finditer(r"getfixturevalue\(\"shared_data\"\)", text):
            head = text[: asked.start()].rpartition("@pytest.fixture(")[2]
            assert re.match(r"[^\n]*params=(?:PLACES|\(\"sample\")", head), path.name


@pytest.mark.parametrize("dataset", SHIPPED)
def test_every_task_with_labels_is_in_both_shipped_specs(dataset: str) -> None:
    assert set(read_spec(DATA_CARDS / dataset / "spec.toml").tasks) == set(LABELLED)


def test_the_deployment_builds_a_spec_with_every_task_with_labels(repository: Path) -> None:
    deployed = yaml.safe_load((repository / "prefect.yaml").read_text("utf-8"))["deployments"]
    specs = {item["parameters"]["spec"] for item in deployed if "spec" in item["parameters"]}
    assert specs
    for spec in specs:
        assert set(read_spec(repository / spec).tasks) == set(LABELLED)
