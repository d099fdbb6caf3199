"""Whether a release may be published: what its audit found and proved, and what the release itself says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curation.audit.rule import Rule
from curation.published.manifest import ReleaseManifest
from schemas.audit import CanaryResult, RuleResult

LOOKED = frozenset({"passed", "failed", "declared", "not_applicable"})
"""States of a rule that looked at the release, or has nothing to say about its task."""
_MOST_NAMED = 5


def forbids(
    manifest: ReleaseManifest | None,
    rules: Sequence[Rule],
    results: Sequence[RuleResult],
    canaries: Sequence[CanaryResult],
    *,
    was_planted: bool,
) -> Iterator[str]:
    """One sentence for each thing that forbids publishing; none when the release is publishable.

    Args:
        manifest: its release.json; None for a dataset of another layout, which is not ours to publish.
        rules: the rules that were asked for.
        results: what each of them said.
        canaries: what came of the planted defects.
        was_planted: whether any were planted.
    """
    if manifest is None:
        yield "It is not a release of ours."
        return
    yield from manifest.not_publishable_because
    if not manifest.publishable_by_content and not manifest.not_publishable_because:
        yield "Its release.json says so and gives no reason."
    required = {rule.id for rule in rules if rule.is_required}
    errors = [item.rule for item in results if item.severity == "error" and item.status == "failed"]
    unseen = [f"{r.rule} ({r.status})" for r in results if r.rule in required and r.status not in LOOKED]
    missed = sorted({item.rule for item in canaries if not item.is_found})
    declared = [item.rule for item in results if item.status == "declared"]
    if errors:
        yield f"Rules found errors: {_listed(errors)}."
    if unseen:
        yield f"Required rules did not look at all of it: {_listed(unseen)}."
    if missed:
        yield f"Rules missed what was planted for them: {_listed(missed)}."
    if not was_planted:
        yield "No defects were planted, so no rule is proven."
    if declared and manifest.publishable_by_content:
        yield f"Rules forbid it although release.json does not: {_listed(declared)}."


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
