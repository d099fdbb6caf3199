"""Hook of mkdocs.yml: pages outside docs/ become pages of the site, and links between the two lead there.

A link to a file that is no page, such as a module, becomes plain text: the site stands without the checkout.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
ADDED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/coverage.md": "benchmarks_coverage.md",
}
"""Path in the checkout -> path in the site."""
FENCE = re.compile(r"(^```.*?^```)", re.M | re.S)
LINK_OR_CODE = re.compile(
    r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>(?!https?:|mailto:|#)[^)#\s]*)(?P<anchor>#[^)\s]*)?\)|`[^`\n]+`"
)


def on_files(files: Any, config: Any) -> Any:
    """The site's files, with those outside docs/."""
    for source, target in ADDED.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A page's text with its links changed to those of the site."""
    target = page.file.src_uri
    source = {new: old for old, new in ADDED.items()}.get(target, f"docs/{target}")
    return in_site(markdown, source, target)


def in_site(markdown: str, source: str, target: str) -> str:
    """The text of the page at `source` in the checkout with links as they hold at `target` in the site."""
    moved = _moved(source, target)
    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else LINK_OR_CODE.sub(moved, part) for part in parts)


def _moved(source: str, target: str) -> Any:
    def replace(found: re.Match[str]) -> str:
        if found["path"] is None:
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["path"]))
        text = in_site(found["text"], source, target)
        if path in ADDED:
            place = ADDED[path]
        elif path.startswith("docs/"):
            place = path.removeprefix("docs/")
        else:
            return text
        relative = posixpath.relpath(place, posixpath.dirname(target) or ".")
        return f"[{text}]({relative}{found['anchor'] or ''})"

    return replace
