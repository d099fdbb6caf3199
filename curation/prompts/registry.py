"""Kinds of prompt that a spec can ask for, by name: another one is one more file and one more line here."""

from __future__ import annotations

from collections.abc import Mapping

from curation.prompts.hyde import HYDE
from curation.prompts.kind import Kind
from curation.prompts.query2doc import QUERY2DOC

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (HYDE, QUERY2DOC)}
