"""From the bucket to grounded articles at several sizes, by a maintainer's commands; what a million cost.

Articles are the shared ones repeated, each with an id of its own: as long and as rich in names as real ones.
Graphics are drawn, small, so that bytes of images say nothing of real ones. Server and commands
share the machine. Costs of build, release and audit are those of `benchmarks.pipeline_scale`. 100,000
articles take hours: `--sizes 1000,10000,100000 --keep FOLDER` runs no finished step again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.bucket import serve
from benchmarks.flow_overhead import articles
from benchmarks.measure import RESULTS, SHARED, each_once, read_result, save
from benchmarks.pipeline_scale import page
from benchmarks.pipeline_scale.steps import measured, size_of, stage_seconds
from flows.engine.hosts import PmcSettings
from sources.sample.objects import BucketContents
from sources.sample.server import BUCKET
from sources.store import md5_hex

NAME = "articles_at_size"
SIZES = (1_000, 10_000)
STEPS = ("crawl", "extract", "ground")
KINDS = ("hyde", "query2doc")
SPEC = f"""name = "asked"
title = "Asked"
licence_profile = "noncommercial"
[citation]
year = 2026
[baselines]
systems = []
[prompts]
stages = {json.dumps(KINDS)}
[tasks.visual_context]
[tasks.image_search]
[tasks.summary]
"""
"""No case_study: with the embedded vocabulary hardly any of its cases has a positive."""
MILLION, DAY_HOURS = page.MILLION, 24
RATE = PmcSettings().requests_per_second


def fill(root: Path, count: int) -> list[str]:
    """Write so many articles as the bucket has them, with their graphics drawn; their PMCIDs.

    Repeated articles share their image files.
    """
    articles(count, root)
    shared = SHARED / "pmc-bucket"
    drawn = BucketContents([shared], synthetic_images=True, bucket=BUCKET)
    pictures = root.with_name("pictures")
    pictures.mkdir()
    told: dict[str, dict[str, str]] = {}
    names = sorted(path.name for path in shared.glob("PMC*"))
    for number, folder in enumerate(sorted(root.glob("PMC*"))):
        source = names[number % len(names)]
        if source not in told:
            told[source] = _draw(drawn, source, pictures)
        for name in told[source]:
            os.link(pictures / source / name, folder / name)
        about = folder / f"{folder.name}.json"
        found = json.loads(about.read_text("utf-8"))
        address = found["xml_url"].partition("?")[0]
        found["xml_url"] = f"{address}?md5={md5_hex((folder / f'{folder.name}.xml').read_bytes())}"
        found["media_urls"] = [
            f"s3://{BUCKET}/{folder.name}/{name}?md5={md5}" for name, md5 in told[source].items()
        ]
        text = json.dumps(found)
        for place in (about, root / "metadata" / about.name):
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, "utf-8")
    return sorted(folder.name.partition(".")[0] for folder in root.glob("PMC*"))


def _draw(bucket: BucketContents, article: str, pictures: Path) -> dict[str, str]:
    """Write the images a bucket draws for an article, a folder an article; name -> MD5."""
    (pictures / article).mkdir()
    made = {}
    for key in bucket.keys(f"{article}/"):
        item = bucket.find(key)
        if item is not None and item.is_synthetic:
            name, body = key.rpartition("/")[2], item.read()
            (pictures / article / name).write_bytes(body)
            made[name] = md5_hex(body)
    return made


def size(count: int, folder: Path) -> dict[str, Any]:
    """Every step at one size that is not done yet, each by a command of its own."""
    bucket, workspace, ids = folder / "bucket", folder / "workspace", folder / "ids.txt"
    if not ids.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        bucket.mkdir(parents=True)
        ids.write_text("\n".join(fill(bucket, count)) + "\n", encoding="utf-8")
    with serve(bucket) as server:
        os.environ |= {
            "MEDQRELS_PMC__ENDPOINT": server.endpoint,
            "MEDQRELS_CONTACT": "bench@localhost",
            "MEDQRELS_PMC__REQUESTS_PER_SECOND": "1000000",
        }

        def run(step: str) -> dict[str, Any]:
            of_crawl = ["crawl", "pmc", "--ids", str(ids), "--profile", "noncommercial"]
            found = measured(of_crawl if step == "crawl" else [step], workspace)
            return {**found, "requests": server.count()} if step == "crawl" else found

        steps = each_once(folder / "figures.json", STEPS, run)
    return {
        "articles": count,
        "bucket_mb": round(size_of(bucket) / 1e6, 1),
        "requests": steps["crawl"].pop("requests"),
        **steps,
        "stage_seconds": stage_seconds(workspace),
    }


def asked(folder: Path) -> dict[str, int]:
    """What a language model would be asked of the articles of a size: prompts, and tokens at most."""
    workspace, spec = folder / "workspace", folder / "spec.toml"

    def run(_: str) -> dict[str, int]:
        spec.write_text(SPEC, encoding="utf-8")
        program = [str(Path(sys.executable).parent / "medqrels")]
        chosen = ["--spec", str(spec), "--workspace", str(workspace)]
        subprocess.run([*program, "build", *chosen], check=True, capture_output=True)
        of_model = ["--model", "any", "--price-in", "1", "--price-out", "1", "--dry-run", "--json"]
        told = subprocess.run([*program, "answer", *chosen, *of_model], capture_output=True, text=True)
        stages = json.loads(told.stdout)["stages"]
        costs = [MILLION * float(stage["costs_at_most"]) for stage in stages]
        return {"prompts": sum(stage["calls"] for stage in stages), "tokens_at_most": round(sum(costs))}

    found = each_once(folder / "asked.json", ["asked"], run)["asked"]
    return {key: found[key] for key in ("prompts", "tokens_at_most")}


def of_million(small: Mapping[str, Any], large: Mapping[str, Any]) -> dict[str, Any]:
    """What a million articles take, by what the larger size took more than the smaller one."""
    times = float(MILLION / (large["articles"] - small["articles"]))

    def more(*keys: str) -> float:
        one, other = small, large
        for key in keys[:-1]:
            one, other = one[key], other[key]
        return float(other[keys[-1]] - one[keys[-1]]) * times

    moved = {
        name: {step: round(large[step][key] * MILLION / large["articles"] / 1e3, 1) for step in STEPS}
        for name, key in (("read_gb", "io_read_mb"), ("written_gb", "io_write_mb"))
    }
    return {
        "cpu_hours": {step: round(more(step, "cpu_seconds") / 3600, 1) for step in STEPS},
        **moved,
        "kept_gb": {step: round(more(step, "written_mb") / 1e3, 1) for step in STEPS},
        "requests": round(more("requests")),
        "fetched_gb": round(more("bucket_mb") / 1e3, 1),
    }


def table(result: Mapping[str, Any]) -> list[str]:
    """What was measured at both sizes, and a million projected from it."""
    million = result["a_million"]
    shown = ("io_read_mb", "io_write_mb", "written_mb")
    return [
        "| articles | step | clock | CPU | articles per CPU s | memory, resident | read | written | kept |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {found['articles']:,} | {step} | {row['seconds']:,.0f} s | {row['cpu_seconds']:,.0f} s "
            f"| {found['articles'] / row['cpu_seconds']:,.1f} | {row['peak_rss_mb']:,} MB | "
            + " | ".join(f"{row[key]:,.0f} MB" if key in row else "–" for key in shown)
            + " |"
            for found in result["sizes"].values()
            for step, row in ((step, found[step]) for step in STEPS)
        ),
        *(
            f"| {MILLION:,}, projected | {step} | | {million['cpu_hours'][step]:,} h | | | "
            + " | ".join(f"{million[name][step]:,} GB" for name in ("read_gb", "written_gb", "kept_gb"))
            + " |"
            for step in STEPS
        ),
    ]


def limits(result: Mapping[str, Any]) -> list[str]:
    """How far one machine goes, by what was measured."""
    million = result["a_million"]
    a_day = MILLION * DAY_HOURS / (million["cpu_hours"]["extract"] + million["cpu_hours"]["ground"])
    requests = million["requests"] / MILLION
    larger = list(result["sizes"].values())[-1]
    memory = max(larger[step]["peak_rss_mb"] for step in STEPS)
    model, count = result["asked"], next(iter(result["sizes"].values()))["articles"]
    tokens = model["tokens_at_most"] / count * MILLION
    return [
        f"* **Processors**: a core extracts and grounds {a_day:,.0f} articles a day, sixteen cores "
        f"{16 * a_day / 1e6:.1f} million.",
        f"* **Network**: {requests:.1f} requests an article; at {RATE:.0f} a second, as by default, "
        f"{RATE * DAY_HOURS * 3600 / requests:,.0f} articles a day, whatever the machine.",
        f"* **Disk**: {sum(million['kept_gb'].values()):,.0f} GB for a million articles with small images; "
        "real images take more, and merged tables and releases come on top (see the sizes above).",
        f"* **Memory**: {memory:,} MB for all processes at {larger['articles']:,} articles; it grows with "
        "the processes, not with the articles.",
        f"* **Tokens**: none, unless a spec asks for a language model. For {' and '.join(KINDS)} of "
        f"visual_context, image_search and summary, {count:,} articles gave {model['prompts']:,} prompts: "
        f"{tokens / 1e9:.1f} billion tokens at most for a million articles, a token a byte and every answer "
        "as long as it may be.",
    ]


def section() -> list[str]:
    """The lines of the benchmarks page."""
    if not (RESULTS / f"{NAME}.json").is_file():
        return []
    result = read_result(NAME)
    million = result["a_million"]
    return [
        "## From the bucket to grounded articles",
        "",
        "Shared articles repeated, each with ids of its own, crawled from a server on loopback that shares "
        "the machine, extracted and grounded by two processes; pictures are drawn, small. "
        f"A million is projected from what the larger size took more: {million['requests']:,} requests, "
        f"{million['fetched_gb']:,} GB fetched. Read and written is what passed read and write calls, from "
        "cache or disk; kept is what the workspace grew by. `python -m benchmarks.articles_at_size`",
        "",
        *table(result),
        "",
    ]


def main() -> int:
    """Measure the sizes, smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="articles, two sizes or more with commas between"
    )
    parser.add_argument("--keep", type=Path, help="folder of the workspaces; without it they are removed")
    chosen = parser.parse_args()
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="articles-at-size-"))
    try:
        counts = sorted(int(count) for count in chosen.sizes.split(","))
        sizes = {str(count): size(count, folder / str(count)) for count in counts}
        model = asked(folder / str(counts[0]))
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    result = {"sizes": sizes, "asked": model, "a_million": of_million(*list(sizes.values())[-2:])}
    page.put("articles", [*table(result), "", *limits(result)])
    print(save(NAME, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
