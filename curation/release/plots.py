"""The figure of a card: the primary measure of each baseline system with its interval, as an SVG file.

It stands alone (own colours for light and dark, own background), loads nothing and runs no script.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from curation.evaluation import page
from curation.evaluation.page.plots import Bar, Row, bars
from curation.release.results import FIGURE, Shown, estimate, has_figure, shown

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow."""
_STYLE = "results.css.jinja"


def figure(facts: Mapping[str, Any]) -> str | None:
    """The text of `figures/results.svg`, None when there is nothing to draw.

    Args:
        facts: what `curation.release.facts.compute` gives.

    Raises:
        ReleaseError: runs/results.json is not of the form expected.
    """
    splits = shown(facts["results"])
    return _svg(splits[0]) if has_figure(splits) else None


def write(directory: Path, facts: Mapping[str, Any]) -> None:
    """Write the figure into a task directory, if there is anything to draw."""
    text = figure(facts)
    if text is not None:
        path = directory / FIGURE
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _svg(split: Shown) -> str:
    rows = [
        Row(
            _clean(f"{name} †" if is_shaped else name),
            [Bar(0, found["mean"], found["low"], found["high"], _clean(f"{name}: {estimate(found)}"))],
        )
        for name, is_shaped, found in split.estimates
    ]
    title = f"{split.primary} of each system on split {split.split}, with 95 % intervals"
    drawn = str(bars(rows, _clean(title)))
    head, body = drawn.removeprefix("<svg ").split(">", 1)
    view = re.search(r'viewBox="0 0 (\d+) (\d+)"', head)
    assert view is not None  # `bars` writes it
    width, height = view.groups()
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {head}><title>{_escaped(title)}</title>'
        f"<style>{_style()}</style>"
        f'<rect {size} style="fill: var(--paper)"/>{body}\n'
    )


@functools.cache
def _style() -> str:
    """The style sheet of the results page, so that both have the same colours."""
    loader = jinja2.FileSystemLoader(Path(page.__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=False, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template(_STYLE).render()


def _clean(text: str) -> str:
    """Text on one line that XML allows."""
    return _NO_XML.sub("\ufffd", " ".join(text.split()))


def _escaped(text: str) -> str:
    return _clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
