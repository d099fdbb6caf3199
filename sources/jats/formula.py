"""A formula as one compact line: MathML linearised (`x_1^2`, `(a)/(b)`), LaTeX where there is nothing else.

Text is what retrieval reads; layout commands and the LaTeX preamble that publishers embed are noise there.
"""

from __future__ import annotations

import re
import unicodedata

from sources.jats.nodes import Element, all_text, local, squeeze

_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "maligngroup", "malignmark", "none"})
_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_LAYOUT = re.compile(
    r"\\(?:left|right|displaystyle|textstyle|limits|nolimits|,|;|!|:|quad|qquad)(?![A-Za-z])"
)
_FONT = re.compile(
    r"\\(?:mathrm|mathit|mathbf|mathsf|mathcal|mathbb|text|textrm|textit|textbf|operatorname|rm|it|bf)\b"
)
_ACCENTS = {
    "˙": "\u0307", "¨": "\u0308", "^": "\u0302", "ˆ": "\u0302", "¯": "\u0304", "‾": "\u0304", "~": "\u0303",
    "˜": "\u0303", "´": "\u0301", "→": "\u20d7", "ˇ": "\u030c",
}  # fmt: skip
_SPACING = re.compile(r"\s*([_^/])\s*")


_UNSEEN = dict.fromkeys(range(0x2061, 0x2065))
"""Operators that are not printed: function application, invisible times, separator and plus."""


def _wrapped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _parts(element: Element) -> list[str]:
    return [text for text in map(_mathml, element) if text]


def _script(element: Element, marks: str) -> str:
    base, *scripts = [_mathml(child) for child in element] or [""]
    text = base
    for mark, script in zip(marks, scripts, strict=False):
        text += f"{mark}{_wrapped(script)}" if script else ""
    return text


def _accented(element: Element) -> str:
    """A letter under an accent as one: V̇, x̄; '' where it is something else that stands above."""
    base, *above = [_mathml(child).strip() for child in element] or [""]
    if len(base) == 1 and base.isalpha() and len(above) == 1 and above[0] in _ACCENTS:
        return unicodedata.normalize("NFC", base + _ACCENTS[above[0]])
    return ""


def _fenced(element: Element) -> str:
    opening, closing = element.get("open", "("), element.get("close", ")")
    separator = (element.get("separators", ",") or ",")[0]
    return f"{opening}{f'{separator} '.join(_parts(element))}{closing}"


def _mathml(element: Element) -> str:
    name = local(element)
    if name in _SKIPPED:
        return ""
    if len(element) == 0:
        text = squeeze(element.text).translate(_UNSEEN)
        return f" {text} " if name == "mo" and text in _SPACED else text
    if name == "mfrac":
        return "/".join(_wrapped(part) for part in _parts(element))
    if name == "mover" and (accented := _accented(element)):
        return accented
    if name in {"msup", "mover"}:
        return _script(element, "^")
    if name in {"msub", "munder"}:
        return _script(element, "_")
    if name in {"msubsup", "munderover"}:
        return _script(element, "_^")
    if name in {"msqrt", "mroot"}:
        return f"√({''.join(_parts(element)[:1] if name == 'mroot' else _parts(element))})"
    if name == "mfenced":
        return _fenced(element)
    if name == "mtr":
        return ", ".join(_parts(element))
    if name == "mtable":
        return "; ".join(_parts(element))
    return "".join(_parts(element))


_SPACED = frozenset("=<>≤≥≈≠±+×→∈∼≡∝")


def _latex(source: str) -> str:
    found = _BODY.search(source)
    text = (found.group(1) if found else source).replace("$", "")
    text = _FONT.sub("", _LAYOUT.sub(" ", text)).replace("\\%", "%").replace("~", " ")
    return _SPACING.sub(r"\1", squeeze(text.replace("{", "").replace("}", "")))


def linear(element: Element) -> str | None:
    """One line for a formula element, None when it is written as plain inline text.

    Args:
        element: `inline-formula`, `disp-formula`, `alternatives`, `math` or `tex-math`.
    """
    name = local(element)
    if name == "math":
        return squeeze(_mathml(element))
    if name == "tex-math":
        return _latex(all_text(element))
    tex: Element | None = None
    for inner in element.iter():
        kind = local(inner)
        if kind == "math":
            return squeeze(_mathml(inner))
        if kind == "tex-math" and tex is None:
            tex = inner
    return _latex(all_text(tex)) if tex is not None else None
