"""What croissant.json says of responsible use (`rai:`): each statement from the card's facts or its prose.

Nothing is stated that the published files do not bear out. Social impact and the annotators' demographics
are left out: nobody recorded them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from curation.images.flags import FACE, SENSITIVE
from curation.published.manifest import OF_CANDIDATES, ReleaseManifest
from curation.release.identified import STAGE as PRIVACY
from schemas.wording import counted

Facts = Mapping[str, Any]
_DATE_LENGTH = 10
_RAW = (
    "Record set sources names each source article, its licence and the SHA-256 of its file; record sets "
    "provenance_queries and provenance_corpus say which one a row was made from."
)
_PLAN = (
    "Versions are major.minor.patch: what was withdrawn leaves in a patch version, added rows make a minor "
    "one, changed labels or texts a major one. CHANGELOG.md and release.json say what changed and why."
)


def statements(
    head: ReleaseManifest, facts: Facts, prose: Mapping[str, str], models: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Name with prefix -> what is stated; names without anything to state are left out.

    Args:
        head: release.json, without hashes.
        facts: of the whole release.
        prose: section -> text, as the card shows it.
        models: stages that a language model answered.
    """
    review = facts["review"]
    found: dict[str, Any] = {
        "rai:dataCollection": f"{_text(prose['collection'])} {_sources(facts)}",
        "rai:dataCollectionType": ["Secondary Data analysis", "Document analysis"],
        "rai:dataCollectionTimeframe": (head.accessed or "")[:_DATE_LENGTH],
        "rai:dataCollectionMissingData": _missing(facts),
        "rai:dataCollectionRawData": _RAW,
        "rai:dataPreprocessingProtocol": [_stage(stage) for stage in head.stages],
        "rai:dataManipulationProtocol": _changed(facts),
        "rai:dataAnnotationProtocol": list(_protocol(head, facts)),
        "rai:dataAnnotationPlatform": ["Label Studio"] if review else [],
        "rai:dataAnnotationAnalysis": list(_analysis(head, facts)),
        "rai:annotationsPerItem": _answers(review) if review else "",
        "rai:machineAnnotationTools": list(_tools(head, models)),
        "rai:dataBiases": list(_biases(facts)),
        "rai:dataLimitations": _points(prose["limitations"]),
        "rai:personalSensitiveInformation": list(_personal(facts)),
        "rai:dataUseCases": _points(prose["intended_use"]),
        "rai:dataReleaseMaintenancePlan": _PLAN,
    }
    return {name: stated for name, stated in found.items() if stated}


def _text(prose: str) -> str:
    """Prose in one line; its Markdown stays."""
    return " ".join(prose.split())


def _points(prose: str) -> list[str]:
    """The points of a list, or the paragraphs of a text."""
    lines = prose.strip().splitlines()
    if not lines or not lines[0].startswith("- "):
        return [_text(part) for part in prose.split("\n\n") if part.strip()]
    points: list[str] = []
    for line in lines:
        if line.startswith("- "):
            points.append(line[2:])
        elif line.strip():
            points[-1] += f" {line}"
    return [_text(point) for point in points]


def _sources(facts: Facts) -> str:
    of = facts["sources"]
    told = f"Rows were made from {counted(of['articles'], 'article')} of {counted(of['journals'], 'journal')}"
    years = sorted({year for year in (of["first_year"], of["last_year"]) if year is not None})
    return told + (f", published {'–'.join(map(str, years))}." if years else ".")


def _missing(facts: Facts) -> str:
    """What was left out on the way, from the table of drops."""
    left_out = facts["counts"]["drops"]
    return (
        f"{counted(left_out, 'unit')} left out on the way, each in record set drops with a closed reason "
        "code; record set funnel counts what entered and left each stage. A pair that is listed nowhere is "
        "unjudged, not negative."
    )


def _stage(stage: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{name}={_setting(value)}" for name, value in sorted(stage["params"].items()))
    return f"{stage['name']} (version {stage['version']})" + (f": {settings}" if settings else "")


def _setting(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {each}' for name, each in sorted(value.items()))}}}"
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, (list, tuple)) else str(value)


def _changed(facts: Facts) -> str:
    normalised = facts["images"]["normalised"] + facts["corpus_images"]["normalised"]
    pictured = facts["images"]["images"] + facts["corpus_images"]["images"]
    told = "Texts were cut from articles; transforms in the provenance record sets lists each change to one."
    if pictured:
        told += (
            f" Of {counted(pictured, 'image')}, {normalised:,} were converted to PNG; the others are copies."
        )
    return told


def _protocol(head: ReleaseManifest, facts: Facts) -> Iterator[str]:
    yield head.task_description
    for score, meaning in sorted(head.grades.items(), reverse=True):
        yield f"Grade {score}: {meaning}"
    for reason, meaning in sorted(head.exclusions.items()):
        yield f"Neither positive nor negative, {reason}: {meaning}"
    for row in facts["rules"]:
        yield f"{counted(row['count'], 'pair')} of grade {row['score']} by rule {row['rule']}"


def _analysis(head: ReleaseManifest, facts: Facts) -> Iterator[str]:
    experts, most = facts["experts"]["queries"], head.expert_minimum
    if head.label == OF_CANDIDATES:
        yield "The pairs are candidates for review, not labels."
    yield f"{counted(experts, 'query')} with expert or adjudicated labels; the dataset's minimum is {most:,}."
    for row in facts["label_status"]:
        yield f"{counted(row['count'], 'label')} of status {row['label_status']}"
    for row in (facts["review"] or {}).get("agreement", ()):
        if row["value"] is not None and row["low"] is not None:
            interval = f"95 % interval {row['low']:.3f} to {row['high']:.3f}"
            yield f"Agreement of annotators, {row['coefficient']}: {row['value']:.3f} ({interval})"


def _answers(review: Mapping[str, Any]) -> str:
    return (
        f"{counted(review['answers'], 'answer')} of {counted(review['people'], 'person', 'people')} on "
        f"{counted(review['pairs'], 'pair')}; {counted(review['adjudicated'], 'answer')} settled a dispute."
    )


def _tools(head: ReleaseManifest, models: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"retrieval system {name}" for name in head.shaped_by)
    for step in models:
        params = step["params"]
        yield f"language model {', '.join(step['models'])}, stage {step['stage']}, prompt {params['prompt']}"


def _biases(facts: Facts) -> Iterator[str]:
    yield (
        "The source articles are open access: what their authors chose to publish, under licences that allow "
        "its use, is not a sample of patients or of practice."
    )
    for row in facts["languages"]:
        queries, documents = counted(row["queries"], "query"), counted(row["corpus"], "document")
        yield f"Language {row['language']}: {queries}, {documents}"
    for facet in ("specialty", "genre"):
        for row in facts["composition"].get(facet, ())[:5]:
            if row["value"]:
                yield f"{facet.capitalize()} {row['value']}: {counted(row['documents'], 'document')}"


def _personal(facts: Facts) -> Iterator[str]:
    yield (
        "Texts and images tell of patients as published articles describe them. Rows with a pattern that "
        "could name a patient are withheld; what patterns cannot see may remain."
    )
    synthetic = facts["synthetic"]["queries"] + facts["synthetic"]["corpus"]
    if synthetic:
        yield f"{counted(synthetic, 'row')} made from synthetic input: they tell of nobody."
    for step in facts["funnel"]:
        if step["stage"] == PRIVACY and step["dropped"]:
            withheld = counted(step["dropped"], step["unit"])
            yield f"Withheld for that, or because readers reported it: {withheld}"
    flagged = {row["flag"]: row["images"] for row in facts["image_flags"]}
    for flag, what in ((FACE, "a face"), (SENSITIVE, "nudity, wounds or the dead")):
        if flagged.get(flag):
            yield f"{counted(flagged[flag], 'image')} flagged as showing {what} (flags in image_checks)"
