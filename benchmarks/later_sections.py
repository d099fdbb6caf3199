"""Sections of benchmarks/README.md: partition, image copies, full size, evaluation, review, properties."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.measure import RESULTS
from benchmarks.pipeline_scale import page

TARGET_AUDIT_SECONDS, TARGET_AUDIT_MB = 300, 4_000


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))
    return found


def partition() -> list[str]:
    """The partition beside giving each connected component to one task."""
    lines = [
        "## Partition",
        "",
        "Ten made-up tasks that want the same articles, patients, images and concepts. The objective is the "
        "sum of kept shares over the tasks; the peer gives each connected component to its largest task "
        "(scipy, keys given). `python -m benchmarks.partition`",
        "",
        "| documents | queries | seconds | CPU s | peak MB | objective | peer's | upper bound | moved |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    sizes = {name: row for name, row in _read("partition").items() if name.endswith("_documents")}
    for name, row in sorted(sizes.items(), key=lambda item: sum(item[1]["queries"].values())):
        bound = row.get("objective_upper_bound")
        cells = (
            f"{int(name.removesuffix('_documents')):,}",
            f"{sum(row['queries'].values()):,}",
            row["seconds"],
            row["cpu_seconds"],
            row["peak_mb"],
            f"{row['objective']:.2f}",
            f"{row['peer']['objective']:.2f}",
            "not solved" if bound is None else f"{bound:.2f}",
            row["when_all_is_published"]["moved"],
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, "", *_sides()]


def _sides() -> list[str]:
    """Articles on the two sides of the lot, before there was one and now."""
    found = _read("partition_sides")
    lines = [
        "Shared articles that summary and visual context could both use, by contest (version 4) and by lot. "
        "Apart: half the sum of differences of shares, 0 for equal ones, 1 where none is shared; of so many "
        "specialties chance leaves some apart. `python -m benchmarks.partition_sides`",
        "",
        "| partition | articles: summary, visual context | figures an article | figure queries kept | "
        "apart: figure queries | domains | article types | specialties |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, shown in (("before", "by contest"), ("now", "by lot")):
        row = found[name]
        both = [row["summary"], row["visual_context"]]
        apart = (
            f"{row['apart'][of]:.3f}" for of in ("figure_queries", "domains", "article_types", "specialties")
        )
        cells = (
            shown,
            ", ".join(str(side["articles"]) for side in both),
            ", ".join(f"{side['figures_mean']:.2f}" for side in both),
            f"{row['kept_figure_queries']} / {row['all_figure_queries']}",
            *apart,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def image_copies() -> list[str]:
    """Copies of pictures found, beside imagehash."""
    result = _read("image_copies")
    lines = [
        "## Copies of images",
        "",
        "Planted copies: re-encoded, brighter, rescaled, cropped. Wrong pairs: of different pictures. "
        "`python -m benchmarks.image_copies`",
        "",
        "| set | tool | " + " | ".join(result["kinds"]) + " | wrong pairs | CPU s |",
        "|---|---|" + "---:|" * (len(result["kinds"]) + 2),
    ]
    for set_name, tools in result["sets"].items():
        for tool, row in tools.items():
            if not isinstance(row, dict) or "recall" not in row:
                continue
            cells = [f"{row['recall'][k]['found']}/{row['recall'][k]['planted']}" for k in result["kinds"]]
            wrong = row["pairs_of_different_pictures"]
            lines.append(f"| {set_name} | {tool} | {' | '.join(cells)} | {wrong} | {row['cpu_seconds']} |")
    return [*lines, ""]


def audit_scale() -> list[str]:
    """The whole audit at size."""
    lines = [
        "## The whole audit at size",
        "",
        "Two made-up sibling tasks with pictures, all rules, canaries and page, two processes. Target at "
        f"1.2 M documents: {TARGET_AUDIT_SECONDS} s, {TARGET_AUDIT_MB:,} MB. "
        "`python -m benchmarks.audit_scale`",
        "",
        "| documents | queries | seconds | CPU s | peak MB | load before | slowest rules |",
        "|---:|---:|---:|---:|---:|---:|---|",
    ]
    remarks = []
    rows = [row for name, row in _read("audit_scale").items() if name.endswith("_documents")]
    for row in sorted(rows, key=lambda item: int(item["documents"])):
        slow = ", ".join(f"{rule} {seconds:.0f} s" for rule, seconds in row["slowest_rules"][:3])
        lines.append(
            f"| {row['documents']:,} | {row['queries']:,} | {row['seconds']:.0f} | "
            f"{row['cpu_seconds']:.0f} | {row['peak_rss_mb']:,} | {row['load_before']} | {slow} |"
        )
        if row.get("remark"):
            remarks += ["", f"{row['documents']:,} documents: {row['remark']}"]
    return [*lines, *remarks, ""]


def evaluation() -> list[str]:
    """BM25 beside plain bm25s and rank_bm25."""
    result = _read("evaluation")
    lines = [
        "## Evaluation",
        "",
        f"BM25 over {result['documents']:,} made-up documents and {result['queries']:,} queries, "
        f"top {result['k']}; rank_bm25 ran fewer queries. `python -m benchmarks.evaluation`",
        "",
        "| tool | index s | search s | queries run | peak MB |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in result["contestants"].items():
        if "index_seconds" in row:
            lines.append(
                f"| {name} | {row['index_seconds']} | {row['search_seconds']} | {row['queries']:,} | "
                f"{row['peak_mb']} |"
            )
    return [*lines, "", *_at_size()]


def _at_size() -> list[str]:
    """BM25 over 1.2 million documents."""
    result = _read("bm25_at_size")
    lines = [
        "Three corpora of 1.2 million documents together, on one core; the same texts and terms for both. "
        "Some queries of each task are run, the time of all is projected; files are those of our index. "
        "Target for all: 900 CPU s. `python -m benchmarks.bm25_at_size`",
        "",
        "| task | documents | queries | tool | index CPU s | a query, CPU ms | projected CPU s | files MB | "
        "equal to all scores |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for task, found in result["tasks"].items():
        for tool in result["projected_cpu_s"]:
            row = found[tool]
            equal = f"{row['equal_to_all_scores']} of {row['compared']}" if "compared" in row else ""
            lines.append(
                f"| {task} | {found['documents']:,} | {found['queries']:,} | {tool} | {row['index_cpu_s']} | "
                f"{row['search_cpu_ms']} | {row['projected_cpu_s']:,} | {row.get('files_mb', '')} | {equal} |"
            )
    said = ", ".join(f"{tool} {seconds:,}" for tool, seconds in sorted(result["projected_cpu_s"].items()))
    return [*lines, "", f"All together, projected CPU s: {said}.", ""]


def dense_encoder() -> list[str]:
    """The encoder's bytes under other processors' settings, its fidelity and speed."""
    result, whole = _read("dense_encoder"), _read("release_dense")
    near, speed = result["fidelity"], result["texts_per_cpu_second"]
    ours, peer = speed["medqrels"]["median"], speed["package float32, one at a time"]["median"]
    differing = result["differing_from_default"]
    peers = differing["package float32"]["passages"]
    lines = [
        "## Dense encoder",
        "",
        f"{result['passages']:,} real passages in several languages, vectors of 512 coordinates in steps of "
        "2^-15; the peer is the package's own float32 forward pass, one text at a time, over "
        f"{peers:,} of them. All terms of a product or sum are whole numbers a float holds exactly: there is "
        "no edge between two steps at which processors could part. `python -m benchmarks.dense_encoder`",
        "",
        "| setting | medqrels: differing bytes (passages) | package float32: differing bytes (passages) |",
        "|---|---:|---:|",
    ]
    for name in differing["medqrels"]:
        if name not in ("passages", "default"):
            cells = (f"{part[name]['bytes']} ({part[name]['passages']:,})" for part in differing.values())
            lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return [
        *lines,
        "",
        f"Beside the same network in float64 ({near['passages']} passages): coordinates differ by "
        f"{near['root_mean_square']:.1e} (root mean square; rounding alone makes 8.8e-06), at most "
        f"{near['largest']:.1e}; least cosine {near['least_cosine']:.8f}.",
        "",
        f"Speed on texts of {result['words_per_timed_text']:.0f} words, per CPU second of one core: medqrels "
        f"{ours}, the package one at a time {peer}, in one call "
        f"{speed['package float32, batched']['median']}: {ours / peer:.1f} times the former way.",
        "",
        f"A release of {whole['documents']:,} made-up documents with {', '.join(whole['systems'])}, audits "
        f"included: {whole['release']['cpu_seconds']:.0f} CPU s (772 before; target 250), "
        f"{whole['release']['peak_rss_mb']:,} MB. `python -m benchmarks.release_dense`",
        "",
    ]


def agreement() -> list[str]:
    """Coefficients beside their peers, coverage of the intervals, planned samples."""
    found = _read("agreement")
    apart, covered, speed = found["largest_difference"], found["coverage"], found["speed"]
    plans = found["plans"]
    lines = [
        "## Agreement",
        "",
        f"Largest difference on {apart['arrays']} made-up arrays with holes: krippendorff "
        f"{apart['krippendorff']:.0e}, irrCAC {apart['irrCAC']:.0e}. {speed['items']:,} items by "
        f"{speed['raters']} annotators, ten figures with intervals: {speed['wall_seconds']} s "
        f"({speed['cpu_seconds']['all ten figures with intervals']} CPU s). `python -m benchmarks.agreement`",
        "",
        f"95 % intervals over {covered['cells']} simulated designs held the truth in {covered['mean']:.1%} "
        f"of samples on average; {covered['cells_at_least_93_percent']} designs in at least 93 % (target).",
        "",
        "| planned for | prior | annotators | items | half-width wanted | reached |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['measure']} | {row['prior']} | {row['raters']} | {row['items']} | {row['wanted']} "
        f"| {row['reached']} |"
        for row in plans
    ]
    return [*lines, ""]


def pipeline() -> list[str]:
    """Build, release, audit and BM25 at M3Retrieve's size."""
    return [
        "## The pipeline at full size",
        "",
        "A generated corpus through `build`, `release`, `audit` and `evaluate --system bm25`; docs/scale.md "
        "says what is measured how. `python -m benchmarks.pipeline_scale --keep FOLDER`",
        "",
        *page.lines(_read("pipeline_scale")),
        "",
    ]


def _synced(run: dict[str, Any]) -> list[str]:
    """Two rows of the table: ours and the peer's."""
    found = (
        ("medqrels", run["ours"], "push"),
        ("label-studio-sdk", run["label-studio-sdk"], "import"),
    )
    rows = []
    for tool, made, step in found:
        first, again = made["steps"][step], made["steps"][f"{step}_again"]
        here, server = (first.get(name, "not measured") for name in ("cpu_here", "cpu_server"))
        rows.append(
            f"| {run['tasks']:,} | {run['database']} | {tool} | {made['tasks_per_second']:,.0f} | "
            f"{first['seconds']} | {here} | {server} | {again['seconds']} | {made['duplicates']:,} |"
        )
    return rows


def _unseen(found: dict[str, Any]) -> list[str]:
    """Rows of the texts in eight languages: each half, by the audit's patterns and by the review's."""
    return [
        f"| eight languages, {half.replace('_', ' ')} half, {patterns.replace('_', ' ')} "
        f"| {made['planted'][half]} | {made[half]['all']:.2f} "
        f"| {len(made['false_alarms'])} of {made['clean']} |"
        for patterns, made in found.items()
        for half in made["planted"]
    ]


def _simulated(found: dict[str, Any]) -> list[str]:
    """How often the intervals of whole simulated reviews hold the truth."""
    least = min(found["covered"], key=lambda name: (found["covered"][name], name))
    return [
        f"{found['reviews']} simulated reviews of {found['items']} items by three readers with known errors, "
        f"through verdict rules and report: {found['all']:.1%} of the 95 % intervals hold the truth; least "
        f"`{least}`, {found['covered'][least]:.1%}; a rule's precision "
        f"{found['covered']['rule_precision']:.1%}. "
        "`python -m benchmarks.review_intervals`",
        "",
    ]


def sweep() -> list[str]:
    """A sweep of generated articles."""
    found = _read("sweep")
    total = sum(found["planted"].values())
    return [
        "## Sweep for retractions and notices",
        "",
        f"{found['articles']:,} generated articles on loopback, {total} of them changed: retracted, taken "
        "away, under another licence, or with a notice; the bucket has an inventory. The second follows "
        "at once. Europe PMC asked at its usual rate takes the seconds of the last column. "
        "`python -m benchmarks.sweep [ARTICLES]`",
        "",
        "| sweep | requests to PMC | to Europe PMC | seconds | found | false | withdrawn | at rate, s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {row['requests_pmc']:,} | {row['requests_europepmc']:,} | {row['seconds']} | "
            f"{sum(row['found'].values())} | {row['false']} | {row['withdrawn']} | "
            f"{row['seconds_at_real_rate']} |"
            for name, row in ((name, found[name]) for name in ("first", "again"))
        ),
        "",
    ]


def review() -> list[str]:
    """Tasks sent to Label Studio beside its SDK, and planted identifiers found before anything is sent."""
    runs, phi = _read("review_sync")["runs"], _read("review_phi")
    text, pictures = phi["texts"], phi["pictures"]
    kinds = ", ".join(f"{kind} {value:.2f}" for kind, value in pictures["recall"].items())
    return [
        "## Review server and identifiers",
        "",
        "Tasks of 1.1 kB brought to a fresh Label Studio twice, on its own SQLite and on PostgreSQL; the "
        "machine did other work beside it. `python -m benchmarks.review_sync [TASKS] [--postgres]`",
        "",
        "| tasks | database | tool | tasks/s | seconds, first | CPU here | CPU of the server | seconds, "
        "again | duplicates after two |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|",
        *(line for run in runs for line in _synced(run)),
        "",
        "Identifiers planted in texts and pictures. The patterns were completed on the first row's texts and "
        "on the development half of eight languages; sentences, names and forms of the held-out half were "
        "only measured. All are ours, so real ones are found less often. `python -m benchmarks.review_phi`",
        "",
        "| where | planted | recall | false alarms |",
        "|---|---:|---:|---:|",
        f"| English texts | {text['planted']} | {text['recall_all']:.2f} | {text['false_alarms']} of "
        f"{text['clean']} |",
        *_unseen(phi["unseen"]),
        f"| pictures, by OCR ({kinds}) | {pictures['planted']} | "
        f"{1 - len(pictures['missed']) / pictures['planted']:.2f} | {pictures['false_alarms']} of "
        f"{pictures['clean']} |",
        *(
            f"| texts of `{name}` held back | | | {found['held_back']} of {found['texts']:,} |"
            for name, found in phi["real"].items()
        ),
        "",
        *_simulated(_read("review_intervals")),
    ]


def release_phi() -> list[str]:
    """The privacy gate of releases: recall per language, and what it finds in real texts."""
    result = _read("release_phi")
    found, real = result["recall"], result["real"]
    groups = [name for name in ("before", "certain", "all") if name in found]
    titles = {"before": "audit before", "certain": "withheld (certain)", "all": "told of (certain and hints)"}
    held = {name: found[name]["held_out"] for name in groups}
    lines = [
        "## Identifiers in releases",
        "",
        "Recall of the gate on the held-out half of the invented identifiers (four sentences of each of 99 "
        "forms), with 95 % intervals: what a "
        "release "
        f"withholds, and all that its audit tells of; false alarms {result['recall']['false_alarms']} of "
        f"{result['recall']['clean']} clean sentences. `python -m benchmarks.release_phi`",
        "",
        "| held out | n | " + " | ".join(titles[name] for name in groups) + " |",
        "|---|---:|" + "---:|" * len(groups),
    ]
    for group in held["all"]:
        cells = [
            f"{row['hits']} ({row['recall']:.2f}; {row['interval'][0]:.2f}–{row['interval'][1]:.2f})"
            for row in (held[name][group] for name in groups)
        ]
        lines.append(f"| {group} | {held['all'][group]['n']} | {' | '.join(cells)} |")
    lines += [
        "",
        "Every find in real texts, read and marked by hand, one reader. Texts of a release are counted in "
        "each of its "
        "four tasks; *distinct* finds once. A certain find withholds the row, so a release has none.",
        "",
        "| texts | n | certain finds | hints | distinct | of a patient | author or contact | harmless | "
        "precision |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, row in real.items():
        certain = sum(sum(of.values()) for of in row["certain"].values())
        of_class = row["distinct_classes"]
        harmless = sum(count for kind, count in of_class.items() if kind.endswith("harmless"))
        low, high = row["interval"]
        said = (
            f"{row['texts']:,}",
            certain,
            row["finds"] - certain,
            len(row["distinct"]),
            row["of_a_patient"],
            of_class.get("author or contact", 0),
            harmless,
            f"{row['precision']:.2f} ({low:.2f}–{high:.2f})",
        )
        lines.append(f"| {name} | {' | '.join(map(str, said))} |")
    return [*lines, ""]


def properties() -> list[str]:
    """Property tests whose examples are drawn anew."""
    found = _read("properties")
    last = found["first"] + found["seeds"] - 1
    failed = [f"`{one['test']}` (seed {one['seed']})" for one in found["failures"]]
    return [
        "## Property tests",
        "",
        f"`make test` tries the same examples every time. All {found['tests']} property tests under seeds "
        f"{found['first']} to {last}: {found['passed']:,} passed, {len(failed)} failed"
        f"{': ' + ', '.join(failed) if failed else ''}. `python -m benchmarks.properties`",
        "",
    ]


def processors() -> list[str]:
    """The demo under each setting of the processor."""
    found = _read("processors")
    lines = [
        "## Processors",
        "",
        f"The demo ({found['released_files']} released files, {found['stage_files']} of its stages) and the "
        "numeric routines of `tests/processor_routines.py` under each setting, beside this machine's own. "
        "`python -m benchmarks.processors`",
        "",
        "| setting | differing files | differing routines | of 3 functions known to differ |",
        "|---|---:|---:|---:|",
    ]
    for name, row in found["settings"].items():
        counts = (len(row[key]) for key in ("differing_files", "differing_routines", "functions_that_differ"))
        lines.append(f"| {name} | {' | '.join(map(str, counts))} |")
    return [*lines, ""]


SECTIONS = (
    partition,
    image_copies,
    audit_scale,
    evaluation,
    dense_encoder,
    agreement,
    review,
    release_phi,
    sweep,
    pipeline,
    properties,
    processors,
)
