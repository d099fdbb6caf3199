"""E-utilities as the PMC and PubMed crawls ask them: NCBI's own rate, and the key in no URL."""

from __future__ import annotations

import importlib.metadata

from flows.engine.settings import Settings, require_contact
from sources.eutils import EutilsContext, client_settings
from sources.http import PoliteClient


def eutils_context(settings: Settings) -> EutilsContext:
    """How to reach E-utilities.

    Raises:
        UsageError: no contact address for a real server.
    """
    own, http = settings.eutils, settings.http
    require_contact(settings, [own.endpoint])
    contact, key = settings.contact or "demo@localhost", own.api_key.get_secret_value()
    bounds = client_settings(
        contact,
        importlib.metadata.version("medqrels"),
        endpoint=own.endpoint,
        has_key=bool(key),
        read_seconds=http.timeout_seconds,
        deadline_seconds=http.deadline_seconds,
        max_attempts=http.attempts,
    )
    return EutilsContext(
        PoliteClient(bounds), contact, api_key=key or None, tool=own.tool, endpoint=own.endpoint
    )
