"""The audit of a published task directory: from its files alone, no workspace, no network."""

from curation.release.audit.report import RULES, audit, report_json, write_audit

__all__ = ["RULES", "audit", "report_json", "write_audit"]
