"""The result of `review judge` as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.wording import counted


def _figure(item: Mapping[str, Any]) -> str:
    """A figure with its interval, or why there is none."""
    if item["value"] is None:
        return f"undefined ({item['reason']})"
    bounds = "" if item["low"] is None else f" [{item['low']:.2f}, {item['high']:.2f}]"
    return f"{item['value']:.2f}{bounds}"


def describe(result: Mapping[str, Any]) -> str:
    """The result for people."""
    run, calibration = result["run"], result["calibration"]
    lines = [
        f"{result['judge']} on {result['dataset']}/{result['task']}: {result['judged']} of "
        f"{counted(result['candidates'], 'candidate')} judged",
        "  grades   " + _listed(result["grades"]) + "  without grade " + _listed(result["without_grade"]),
        "  skipped  " + _listed(result["skipped"]) + f"  not asked {result['not_asked']}",
        "  doubts   " + _listed(result["doubts"]),
        f"  calls    {run['calls']}  spent {run['spent']} of {run['budget']}, "
        f"perhaps {run['perhaps_spent']} more",
    ]
    if run["outcomes"]:
        lines.append("  outcomes " + _listed(run["outcomes"]))
    if held := result["skipped"].get("needs_images"):
        lines.append(f"  {held} have an image: --images sends it too, to a model that reads images")
    if run["outcomes"].get("finish_length"):
        lines.append("  answers were cut off at the token limit: raise --max-tokens")
    if run["stopped"] == "budget":
        lines.append(f"  stopped: the budget is used up ({run['detail']}); raise --budget to continue")
    for item in result["circular"]:
        shared = f" (family {', '.join(item['families'])})" if item["families"] else ""
        lines.append(f"  circular: {item['system']} shaped the pool and is of the judge's family{shared}")
    if calibration["not_run"]:
        return "\n".join([*lines, f"  calibration not run: {calibration['not_run']}"])
    return "\n".join([*lines, *_calibration_lines(calibration)])


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _calibration_lines(calibration: Mapping[str, Any]) -> list[str]:
    among = _figure(calibration["among_clinicians"])
    lines = [
        f"  against clinicians ({counted(calibration['items'], 'item')}; among clinicians linear κ {among})"
    ]
    lines.append(f"    {'stratum':<28}{'items':>6}  {'linear κ':<22}bias")
    for item in calibration["strata"]:
        name = item["stratum"] + (f" {item['value']}" if item["value"] else "")
        kappa, bias = _figure(item["kappa"]), _figure(item["bias"])
        lines.append(f"    {name:<28}{item['bias']['items']:>6}  {kappa:<22}{bias}")
    lines.append("    clinicians' grade, judge's grade: items")
    for cell in calibration["confusion"]:
        judge = "-" if cell["judge"] is None else cell["judge"]
        lines.append(f"    {cell['clinicians']}, {judge}: {cell['items']}")
    return lines
