"""The head of release.json: all that is known of a release once its tables are written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from curation.published.manifest import FORMAT_VERSION, OF_CANDIDATES, BuildRecord, ReleaseManifest
from curation.release import reviewed
from curation.release.calibrated import CALIBRATED
from curation.release.facts import Facts
from curation.release.rights import combined_family
from schemas.errors import ReleaseError
from schemas.hashing import canonical_json, sha256_text
from schemas.ids import ID_VERSION
from schemas.licences import PROFILES
from schemas.spec import DatasetSpec
from schemas.task import Task


def head_of(
    task: Task,
    spec: DatasetSpec,
    version: str,
    build: BuildRecord,
    numbers: Facts,
    *,
    names_targets: bool,
) -> ReleaseManifest:
    """release.json as the facts of the written tables give it: no file is hashed, no made text counted.

    Args:
        task: the task.
        spec: the dataset's spec.
        version: of the release.
        build: stages as they passed, vocabulary, environment.
        numbers: facts of the written tables.
        names_targets: whether names of target concepts are published.

    Raises:
        ReleaseError: no licence fits all rows together.
    """
    reasons = _not_publishable(numbers, task, build)
    used = {row["reason"] for row in numbers["exclusions"]}
    is_empty = not numbers["counts"]["queries"]  # then its pairs would be what the task says of them
    waits = _has_candidates(numbers) or _not_calibrated(numbers) is not None
    waits = waits or (is_empty and bool(task.candidates_because))
    is_silver = numbers["experts"]["queries"] < spec.expert_minimum
    return ReleaseManifest(
        format_version=FORMAT_VERSION,
        dataset=spec.name,
        title=spec.title,
        version=version,
        task=task.name,
        task_title=task.title,
        task_description=task.description,
        licence_profile=spec.licence_profile,
        license=_family(numbers),
        label=OF_CANDIDATES if waits else "silver" if is_silver else "expert",
        expert_minimum=spec.expert_minimum,
        publishable_by_content=not reasons,
        not_publishable_because=reasons,
        accessed=spec.sources.accessed,
        grades=reviewed.grades(task, numbers["scores"]),
        exclusions={code: meaning for code, meaning in task.all_exclusions.items() if code in used},
        versions=_versions(build),
        stages=tuple(dataclasses.asdict(stage) for stage in build.stages),
        overrides=dict(build.overrides),
        counts=numbers["counts"],
        files={},
        siblings=tuple(sorted(set(spec.tasks) - {task.name})),
        vocabulary=build.vocabulary if names_targets else "",
        vocabularies=build.vocabularies,
        made_with=dict(build.made_with),
    )


def _family(numbers: Facts) -> str:
    """The licence family of the whole release."""
    family = combined_family(row["license"] for row in numbers["licences"])
    if family is None:
        listed = ", ".join(
            f"{row['license']} ({row['queries'] + row['corpus']})" for row in numbers["licences"]
        )
        raise ReleaseError(
            f"no licence fits all rows together: {listed}",
            hint="narrow licence_profile in the spec, then build again",
        )
    return family


def _has_candidates(numbers: Facts) -> bool:
    return any(row["label_status"] == "candidate" for row in numbers["label_status"])


def _not_calibrated(numbers: Facts) -> str | None:
    """Why a judge's grades are candidates and no labels yet; None where they are, or there are none."""
    if not any(row["label_status"] == "judge" for row in numbers["label_status"]):
        return None
    found = numbers["calibration"] or {"status": "not_run", "why": "no calibration sample was drawn"}
    return None if found["status"] == CALIBRATED else str(found["why"])


def _not_publishable(numbers: Facts, task: Task, build: BuildRecord) -> tuple[str, ...]:
    """What of the content forbids publishing."""
    reasons = []
    if numbers["synthetic"]["queries"] + numbers["synthetic"]["corpus"]:
        reasons.append("It contains rows made from synthetic input.")
    if any(stage.params.get("is_trial") for stage in build.stages):
        reasons.append("A script or a toy model answered its prompts.")
    if not numbers["counts"]["queries"]:
        reasons.append("It has no query: its inputs gave none, as the retention table says.")
    if _has_candidates(numbers):
        reasons.append(f"Its pairs are candidates for review, not labels. {task.candidates_because}")
    elif (why := _not_calibrated(numbers)) is not None:
        reasons.append(f"A language model judged its pairs, and is not calibrated on people: {why}.")
    return tuple(reasons)


def _versions(build: BuildRecord) -> Mapping[str, Any]:
    profiles = {name: sorted(of) for name, of in PROFILES.items()}
    return {
        "storage": build.storage_version,
        "ids": ID_VERSION,
        "licence_profiles": sha256_text(canonical_json(profiles))[:12],
    }
