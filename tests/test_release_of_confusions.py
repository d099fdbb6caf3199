"""concept_discrimination built from the sample and released: sets from building to ranking and audit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.audit import audit
from curation.audit.rules import confusion_names, confusions, name_results, pools, restricted, rights, runs
from curation.evaluation.collection import open_collection
from curation.export.run import export
from curation.export.source import open_source
from curation.published.manifest import ReleaseManifest
from curation.release.filled import look_up, write_filled
from curation.tasks.concept_discrimination.records import EarlierMember
from curation.tasks.concept_discrimination.sql import EARLIER
from curation.tasks.registry import TASKS
from flows.build.earlier_stages import bring_earlier, check_stood
from flows.engine.connection import query
from flows.engine.progress import SilentReporter
from flows.engine.runner import read_rows, table_files
from flows.engine.session import Session
from flows.engine.settings import Settings
from flows.engine.workspace import Workspace
from flows.release.versions import release_task
from flows.specs import DATA_CARDS, read_spec
from flows.vocabulary import current
from flows.vocabulary.store import MANIFEST
from schemas.errors import WorkspaceError
from schemas.hashing import sha256_file, sha256_text
from schemas.record import to_table
from schemas.vocabulary import ConceptName
from tests.pipeline import new_workspace, run_partition, run_stages
from tests.releases import card_text

NAME = "concept_discrimination"
SPEC = f"""
name = "sets"
title = "Sets for a test"
[baselines]
systems = ["bm25"]
nano_queries = 5
nano_documents = 100
[tasks.{NAME}]
"""
RULES = (
    *confusions.RULES,
    *confusion_names.RULES,
    *name_results.RULES,
    *pools.RULES,
    *runs.RULES,
    *rights.RULES,
    *restricted.RULES,
)


def name_in_languages(workspace: Workspace) -> None:
    """Invented names of every concept, some unconfirmed in Spanish and some restricted in Italian."""
    vocabulary = current(workspace)
    assert vocabulary is not None
    path = vocabulary.table("names")
    table = pq.read_table(path)
    concepts = sorted(set(table.column("concept").to_pylist()))
    forms = {"es": "morbo {} del mar", "it": "morbo {} del lago", "ja": "海の熱{}", "zh": "海之病{}"}
    names = [
        ConceptName(
            concept=concept,
            name=form.format(concept.replace(":", "")),
            language=language,
            source="HPO",
            term_type="CAND" if language == "es" and not place % 20 else "PT",
            tier="restricted" if language == "it" and not place % 9 else "terms",
            atom=f"A{place}" if language == "it" and not place % 9 else "",
            is_preferred=True,
        )
        for place, concept in enumerate(concepts)
        for language, form in forms.items()
    ]
    path.unlink()
    pq.write_table(pa.concat_tables([table, to_table(ConceptName, names)]).sort_by("concept"), path)
    manifest = json.loads((vocabulary.folder / MANIFEST).read_text("utf-8"))
    manifest["tables"]["names"] |= {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
    (vocabulary.folder / MANIFEST).write_text(json.dumps(manifest), "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, sample: Workspace) -> tuple[Path, ReleaseManifest]:
    """The task's release and its manifest."""
    root = tmp_path_factory.mktemp("sets")
    cards = root / "data_cards"
    shutil.copytree(DATA_CARDS / "medqrels-sample", cards)
    (cards / "spec.toml").write_text(SPEC, "utf-8")
    spec = read_spec(cards / "spec.toml")
    workspace = Workspace(shutil.copytree(sample.root, root / "ws"))
    name_in_languages(workspace)
    shutil.rmtree(workspace.work / f"{NAME}_all", ignore_errors=True)
    run_stages(workspace, spec=spec)
    run_partition(workspace, spec, "1.0.0")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    manifest = release_task(session, TASKS[NAME], spec, cards, "1.0.0", {})
    return workspace.releases / "sets" / "1.0.0" / NAME, manifest


def rows(directory: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(directory / table).to_pylist()
    return found


def said(directory: Path) -> Mapping[str, str]:
    """What the rules on sets say of a release."""
    return {item.rule: item.status for item in audit(directory, query(), rules=RULES, plant=False).rules}


def test_every_query_has_its_eight_documents_and_they_are_what_is_ranked_again(
    made: tuple[Path, ReleaseManifest],
) -> None:
    directory, _ = made
    sets: dict[str, set[str]] = {}
    for row in rows(directory, "confusions"):
        sets.setdefault(row["query-id"], set()).add(row["corpus-id"])
    assert len(sets) == len(rows(directory, "queries")) > 15
    assert {len(found) for found in sets.values()} == {8}
    assert {row["query-id"]: set(row["corpus-ids"]) for row in rows(directory, "top_ranked")} == sets
    for row in rows(directory, "qrels"):
        assert row["corpus-id"] in sets[row["query-id"]] and row["score"] == 2
    assert {row["id"] for row in rows(directory, "corpus")} == set().union(*sets.values())
    assert {row["tier"] for row in rows(directory, "queries")} == {"1", "2", "3"}


def test_documents_are_quoted_under_their_terms_and_credited(made: tuple[Path, ReleaseManifest]) -> None:
    directory, manifest = made
    documents = rows(directory, "corpus")
    assert {row["license"] for row in documents} == {"LicenseRef-terms-HPO"}
    assert not (directory / "provenance/made_texts").exists()
    sources = {row["id"]: row for row in rows(directory, "provenance/sources")}
    origin = rows(directory, "provenance/corpus")[0]
    assert sources[origin["article_id"]]["title"].startswith("Human Phenotype Ontology, hp/releases/")
    assert manifest.license


def test_its_card_and_results_go_by_the_first_document(made: tuple[Path, ReleaseManifest]) -> None:
    directory, _ = made
    results = json.loads((directory / "runs/results.json").read_text("utf-8"))["test"]
    assert results["sets"]["chance"] == 0.125 and results["sets"]["queries"] == results["queries"]
    text = card_text(directory)
    assert "a guess is right in 0.125 of all cases" in text and "R@1 by system" in text
    assert "families of dense encoders are needed, 0 ran: none" in text


def test_its_audit_holds_and_notices_a_set_that_was_changed(
    made: tuple[Path, ReleaseManifest], tmp_path: Path
) -> None:
    directory, _ = made
    found = said(directory)
    assert {rule: status for rule, status in found.items() if status == "failed"} == {}
    assert found["confusion_sets"] == found["confusion_tiers"] == "passed"
    assert found["confusion_names"] == found["name_results"] == "passed"
    looked = (*pools.RULES, *confusion_names.RULES, *name_results.RULES)
    planted = audit(directory, query(), rules=looked, plant=True)
    assert all(planted_one.is_found for planted_one in planted.canaries)
    changed = Path(shutil.copytree(directory, tmp_path / NAME))
    path = next((changed / "confusions").glob("*.parquet"))
    table = pq.read_table(path)
    gold = next(row for row in table.to_pylist() if row["role"] == "gold")
    below = [
        [gold["concept"]] if row["query-id"] == gold["query-id"] else row["below"]
        for row in table.to_pylist()
    ]
    column = pa.array(below, table.schema.field("below").type)
    pq.write_table(
        table.set_column(table.column_names.index("below"), table.schema.field("below"), column), path
    )
    derived = changed / "runs/derived.json"
    told = json.loads(derived.read_text("utf-8"))
    told["names"]["languages"]["ja"]["systems"]["bm25"]["mean"] += 0.01
    derived.write_text(json.dumps(told), "utf-8")
    after = said(changed)
    assert after["confusion_sets"] == after["name_results"] == "failed"


def test_sets_are_loaded_by_language_with_names_for_documents(made: tuple[Path, ReleaseManifest]) -> None:
    directory, _ = made
    sets: dict[str, set[str]] = {}
    tested = {row["id"] for row in rows(directory, "provenance/queries")} - _dev(directory)
    for row in rows(directory, "confusions"):
        sets.setdefault(row["query-id"], set()).add(row["corpus-id"])
    gold = {
        row["query-id"]: row["corpus-id"] for row in rows(directory, "qrels") if row["query-id"] in tested
    }
    for language, beginning in (("es", "morbo "), ("ja", "海の熱"), ("zh", "海之病")):
        asked, documents, labels = (
            datasets.load_dataset(str(directory), f"{language}-{name}", split="test")
            for name in ("queries", "corpus", "qrels")
        )
        texts = dict(zip(documents["id"], documents["text"], strict=True))
        assert set(asked["id"]) == tested and all(name.startswith(beginning) for name in texts.values())
        assert set(texts) == set().union(*sets.values())
        assert dict(zip(labels["query-id"], labels["corpus-id"], strict=True)) == gold
    assert {row["status"] for row in rows(directory, "names/queries")} == {"official", "candidate"}
    dropped = [row for row in rows(directory, "provenance/drops") if row["unit"] == "set"]
    assert {row["reason"] for row in dropped} == {"no_name_in_language", "restricted_name"}
    assert "| ja | " in card_text(directory)
    told = json.loads((directory / "runs/derived.json").read_text("utf-8"))["names"]
    assert told["core"] == ["es", "ja", "zh"]
    assert told["languages"]["ja"]["official"] > told["core_queries"] > 0
    assert told["fairness"]["bm25"]["families"] == told["core_queries"]


def test_sets_with_restricted_names_stay_home_and_come_back_byte_for_byte(
    made: tuple[Path, ReleaseManifest], tmp_path: Path
) -> None:
    directory, _ = made
    vocabulary = current(Workspace(directory.parents[3]))
    assert vocabulary is not None
    recipes = rows(directory, "name_recipes")
    secret = [row for row in recipes if row["tier"] == "restricted"]
    held = {row["id"] for row in rows(directory, "names/queries") if row["document_language"] == "it"}
    waiting = {row["query-id"] for row in recipes}
    assert secret and not any(row["text"] for row in secret) and not held & waiting
    filling = look_up(query(), directory, vocabulary.table("names"), vocabulary.table("sources"))
    assert not filling.missing and len(filling.texts) == len(recipes)
    write_filled(query(), directory, filling, tmp_path / "filled", "v1")
    filled = {(row["id"], row["language"]): row["text"] for row in rows(tmp_path / "filled", "names/corpus")}
    for row in recipes:
        name = filled[row["corpus-id"], row["document_language"]]
        assert sha256_text(name) == row["text_sha256"] and row["text"] in ("", name)
    asked = rows(tmp_path / "filled", "names/queries")
    assert {row["id"] for row in asked if row["document_language"] == "it"} == held | waiting
    assert open_collection(tmp_path / "filled", variant="it").sets.keys() >= waiting - _dev(directory)


def _dev(directory: Path) -> set[str]:
    return {row["id"] for row in rows(directory, "provenance/queries") if row["split"] == "dev"}


def test_mteb_gets_a_subset_for_each_language_over_its_own_corpus(
    made: tuple[Path, ReleaseManifest], tmp_path: Path
) -> None:
    directory, _ = made
    export(open_source(directory), tmp_path / "out", "mteb")
    own, names = (
        datasets.load_dataset(str(tmp_path / "out"), config, split="test")["text"]
        for config in ("corpus", "ja-corpus")
    )
    assert all(text.startswith("海の熱") for text in names) and len(own) == len(names)
    asked = datasets.load_dataset(str(tmp_path / "out"), "ja-queries", split="test")
    assert asked.num_rows == datasets.load_dataset(str(tmp_path / "out"), "queries", split="test").num_rows
    definition = (tmp_path / "out/mteb_tasks.py").read_text("utf-8")
    assert "'default': ['eng-Latn']" in definition and "'ja': ['eng-Latn', 'jpn-Jpan']" in definition


def test_a_build_takes_the_sets_of_the_newest_release_of_its_dataset(
    made: tuple[Path, ReleaseManifest], tmp_path: Path
) -> None:
    directory, _ = made
    workspace = new_workspace(tmp_path / "ws")
    shutil.copytree(directory.parents[1], workspace.releases / "sets")
    session = Session(Settings(workspace=workspace.root), workspace, SilentReporter())
    stood = sorted((row["query-id"], row["concept"], row["kin"]) for row in rows(directory, "confusions"))

    def taken() -> list[tuple[str, str, str]]:
        found = read_rows(EarlierMember, table_files(workspace, f"{EARLIER.name}.rows"))
        return [(row.query_id, row.concept, row.kin) for row in found]

    bring_earlier(session, "sets", NAME, EARLIER)
    assert taken() == stood
    check_stood(workspace, "sets", NAME, EARLIER, "build it")
    with pytest.raises(WorkspaceError, match="built for another dataset") as refused:
        check_stood(workspace, "others", NAME, EARLIER, "build it")
    assert refused.value.hint == "build it"
    bring_earlier(session, "others", NAME, EARLIER)
    assert taken() == []
    check_stood(workspace, "others", NAME, EARLIER, "")
    with pytest.raises(WorkspaceError, match="not after the releases of 'sets'"):
        check_stood(workspace, "sets", NAME, EARLIER, "")
