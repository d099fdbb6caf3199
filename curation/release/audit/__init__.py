"""The audit of a published task directory: from its files alone, no workspace, no network."""

from curation.release.audit.page import render_page
from curation.release.audit.report import RULES, audit

__all__ = ["RULES", "audit", "render_page"]
