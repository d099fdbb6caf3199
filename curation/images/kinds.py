"""Kind of an image from measured features and caption words, by points that can be read in `kind_evidence`.

Each rule gives or takes points; a kind is decided when it has enough of them and leads the next by a margin,
else the image stays undecided (''). An image whose panels' captions name different kinds is compound.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from curation.images.features import Features
from curation.images.kind_terms import KINDS, STRONG, named_kinds

MIN_POINTS = 1.5
MIN_LEAD = 1.0

_SCANNED = ("radiology", "ophthalmology", "endoscopy", "photograph", "pathology", "microscopy")
_DRAWN = ("chart", "diagram", "table", "structure", "equation", "sequence")
_CAPTION_CAP = 4.0

Rule = tuple[str, dict[str, float]]
Named = tuple[str, int, str]
"""As `named_kinds` yields them."""


def decide(
    features: Features, caption: str, panel_captions: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Kind of one image and what it rests on.

    Args:
        features: as measured.
        caption: the figure's caption.
        panel_captions: texts of its panels, when the caption names panels.

    Returns:
        A key of :data:`KINDS` or '', and lines such as `caption: radiology +3 (axial, ct)`, strongest first.
    """
    points: dict[str, float] = defaultdict(float)
    evidence: list[tuple[float, str]] = []
    named = tuple(named_kinds(caption))
    rules = [
        *_caption_rules(named),
        *_panel_rules(named, panel_captions, features),
        *_feature_rules(features),
    ]
    for reason, given in rules:
        for kind, value in given.items():
            points[kind] += value
        shown = ", ".join(f"{kind} {value:+g}" for kind, value in given.items())
        evidence.append((max(abs(value) for value in given.values()), f"{reason}: {shown}"))
    ranked = sorted(points.items(), key=lambda item: (-item[1], list(KINDS).index(item[0])))
    lines = tuple(line for _, line in sorted(evidence, key=lambda item: -item[0]))
    if not ranked or ranked[0][1] < MIN_POINTS:
        return "", lines
    lead = ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0.0)
    return (ranked[0][0] if lead >= MIN_LEAD else ""), lines


def _caption_rules(named: Sequence[Named]) -> list[Rule]:
    """Words of one kind count together, up to a cap: a long caption names many things."""
    gathered: dict[str, tuple[float, list[str]]] = {}
    for kind, value, words in named:
        count = min(words.count(",") + 1, 2) if value != STRONG else 1
        total, said = gathered.get(kind, (0.0, []))
        gathered[kind] = (min(total + value * count, _CAPTION_CAP), [*said, words])
    return [(f"caption ({', '.join(said)})", {kind: total}) for kind, (total, said) in gathered.items()]


def _panel_rules(named: Sequence[Named], panel_captions: Sequence[str], seen: Features) -> list[Rule]:
    """Panels of different kinds make a compound image; panels that name none clearly are left out."""
    if len(panel_captions) < 2:
        return []
    clear = sorted({kind for text in panel_captions if (kind := _clear_kind(text))})
    strong = sorted({kind for kind, value, _ in named if value == STRONG})
    rules: list[Rule] = []
    if len(clear) >= 2:
        rules.append((f"panels ({', '.join(clear)})", {"compound": _CAPTION_CAP + 1.0}))
    elif len(strong) >= 2:
        rules.append((f"several kinds named ({', '.join(strong)})", {"compound": len(strong) + 1.5}))
    if seen.tone >= 0.12 and seen.white >= 0.2:
        rules.append((f"panels, tone {seen.tone:.2f} on white {seen.white:.2f}", {"compound": 2.0}))
    return rules


def _clear_kind(text: str) -> str:
    """The kind one panel's caption names with at least 2 points and more than any other, or ''."""
    points: dict[str, int] = defaultdict(int)
    for kind, value, words in named_kinds(text):
        points[kind] += value if value == STRONG else min(words.count(",") + 1, 2)
    ranked = sorted(points.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < 2 or (len(ranked) > 1 and ranked[1][1] == ranked[0][1]):
        return ""
    return ranked[0][0]


def _feature_rules(seen: Features) -> list[Rule]:
    rules: list[Rule] = []
    if seen.tone >= 0.2 and seen.flat < 0.7:
        rules.append((f"continuous tone {seen.tone:.2f}", dict.fromkeys(_DRAWN, -3.0)))
        rules.extend(_scanned_rules(seen))
    elif seen.white >= 0.5 and seen.tone < 0.12:
        rules.append((f"white ground {seen.white:.2f}, little tone", dict.fromkeys(_SCANNED, -3.0)))
        rules.extend(_drawn_rules(seen))
    elif seen.flat >= 0.75:
        rules.append((f"flat areas {seen.flat:.2f}", dict.fromkeys(_SCANNED, -2.0)))
        if seen.black < 0.5 and (seen.white >= 0.2 or seen.grey < 0.97):
            rules.extend(_drawn_rules(seen))
    return rules


def _scanned_rules(seen: Features) -> list[Rule]:
    rules: list[Rule] = []
    if seen.grey >= 0.97:
        rules.append((f"grey {seen.grey:.2f}", {"radiology": 1.0, "microscopy": 0.5, "endoscopy": -3.0}))
        if seen.black >= 0.15:
            rules.append((f"black ground {seen.black:.2f}", {"radiology": 1.5}))
    elif seen.stain >= 0.3:
        rules.append((f"stain colours {seen.stain:.2f}", {"pathology": 2.5, "radiology": -2.0}))
    elif seen.fine >= 0.8 and seen.black < 0.05 and seen.dark_border < 0.05:
        rules.append((f"coloured texture all over {seen.fine:.2f}", {"pathology": 1.5, "radiology": -2.0}))
    elif seen.warm >= 0.5 and seen.dark_border >= 0.3:
        reason = f"warm colours in a dark frame {seen.warm:.2f}"
        rules.append((reason, {"endoscopy": 1.5, "ophthalmology": 1.5}))
    elif seen.warm >= 0.2:
        rules.append((f"warm colours {seen.warm:.2f}", {"photograph": 2.0, "radiology": -2.0}))
    return rules


def _drawn_rules(seen: Features) -> list[Rule]:
    rules: list[Rule] = []
    if seen.rules >= 10:
        rules.append((f"{seen.rules} horizontal rules", {"table": 2.0, "chart": 0.5}))
    elif seen.rules >= 1 and seen.columns >= 1:
        rules.append((f"axes: {seen.rules} rules, {seen.columns} columns", {"chart": 1.5}))
    if seen.columns >= 6 and seen.rules < 3:
        rules.append((f"bars: {seen.columns} columns", {"chart": 1.0}))
    if not seen.rules and not seen.columns:
        rules.append(("no axes", {"diagram": 1.5}))
    if seen.levels >= 14 and not seen.rules:
        rules.append((f"{seen.levels} colours, no rules", {"diagram": 1.0}))
    return rules
