"""Runs every benchmark and campaign in full and rewrites benchmarks/README.md from the results."""

from __future__ import annotations

import subprocess
import sys

from benchmarks import report
from benchmarks.measure import ROOT, SHARED

ALL = (
    "coverage",
    "languages",
    "jats_speed",
    "jats_mutations",
    "hostile",
    "properties",
    "processors",
    "crawl_speed",
    "crawl_kills",
    "scope",
    "second_reading",
    "publication",
    "cases_gold",
    "principal_diagnosis",
    "medline_diagnoses",
    "written_cases",
    "written_articles",
    "diagnosis_ranking",
    "hidden_diagnoses",
    "rewrite_checks",
    "judged_walk",
    "translations",
    "six_languages",
    "vignette_cuts",
    "labels",
    "edits",
    "vocabulary_build",
    "confusion_chance",
    "confusion_sets",
    "confusion_tiers",
    "concept_links",
    "grounding",
    "image_kinds",
    "panels",
    "subcaptions",
    "overlap_audit",
    "image_copies",
    "partition",
    "audit_scale",
    "evaluation",
    "bm25_at_size",
    "dense_encoder",
    "release_dense",
    "agreement",
    "review_sync",
    "blindness",
    "review_phi",
    "release_phi",
    "review_intervals",
    "answer_kills",
    "real_model",
    "hub_faults",
    "purge_kills",
    "reliability",
    "verification",
    "publish_speed",
    "loaders",
    "loaded_back",
    "stranger",
    "croissant",
    "sweep",
    "seven_nights",
    "seven_nights --dask",
    "cluster",
    "simulated_judges",
    "articles_at_size",
    "pipeline_scale",
    "release_images",
    "flow_overhead",
    "start",
)
"""Modules of this package, with what they are told."""
WHOLE = ("scripts.smoke", "pytest --campaigns -m campaign -n 2 --dist loadscope --no-loadscope-reorder")
"""Checks of which the tests run a part: the core lock under every Python found, campaigns among the tests."""


def main() -> int:
    """Run all; a failing benchmark does not stop the others."""
    if not SHARED.is_dir():
        print(f"no data at {SHARED}; set BENCHMARK_DATA to a folder of real articles", file=sys.stderr)
        return 1
    failed = []
    for name in (*(f"benchmarks.{name}" for name in ALL), *WHOLE):
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", *name.split()], cwd=ROOT, check=False).returncode:
            failed.append(name)
    report.write()
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
