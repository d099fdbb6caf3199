"""Files that are code for other tools, from templates: values are written as Python literals."""

from __future__ import annotations

from pathlib import Path
from pprint import pformat
from typing import Any

import jinja2


def rendered(template: str, **values: Any) -> str:
    """A file from a template of this room; nothing but literals is put into it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=False,  # Python, not HTML: every value goes through the `literal` filter
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["literal"] = _literal
    return environment.get_template(template).render(**values)


def _literal(value: Any) -> str:
    return pformat(value, width=100, sort_dicts=False)
