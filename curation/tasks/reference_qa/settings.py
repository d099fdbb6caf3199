"""Settings of reference question answering."""

from __future__ import annotations

from curation.tasks.shared.support.settings import SupportSettings


class Settings(SupportSettings):
    """Settings of reference_qa."""
