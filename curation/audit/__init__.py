"""The audit of published datasets: from their files alone, no workspace, no network.

rules/ what is checked; texts/ and images/ the comparing engines; layouts/ other benchmarks; page/ HTML.
"""

from curation.audit.defects import shared_out
from curation.audit.page.render import render_page
from curation.audit.report import RULES, SEPARATE, audit, plant_defects, run_rule, stepped

__all__ = ["RULES", "SEPARATE", "audit", "plant_defects", "render_page", "run_rule", "shared_out", "stepped"]
