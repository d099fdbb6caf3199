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
MILLION, DAY_HOURS = 1_000_000, 24
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
        "xml_mb": round(size_of(bucket) / 1e6, 1),
        "requests": steps["crawl"].pop("requests"),
        **steps,
        "stage_seconds": stage_seconds(workspace),
    }


def of_million(small: Mapping[str, Any], large: Mapping[str, Any]) -> dict[str, Any]:
    """What a million articles take, by what the larger size took more than the smaller one."""
    times = float(MILLION / (large["articles"] - small["articles"]))

    def more(*keys: str) -> float:
        one, other = small, large
        for key in keys[:-1]:
            one, other = one[key], other[key]
        return float(other[keys[-1]] - one[keys[-1]]) * times

    return {
        "cpu_hours": {step: round(more(step, "cpu_seconds") / 3600, 1) for step in STEPS},
        "kept_gb": {step: round(more(step, "written_mb") / 1e3, 1) for step in STEPS},
        "requests": round(more("requests")),
        "xml_gb": round(more("xml_mb") / 1e3, 1),
    }


def table(result: Mapping[str, Any]) -> list[str]:
    """What was measured at both sizes, and a million projected from it."""
    million = result["a_million"]
    return [
        "| articles | step | clock | CPU | articles per CPU s | memory, resident | written |",
        "|---:|---|---:|---:|---:|---:|---:|",
        *(
            f"| {found['articles']:,} | {step} | {row['seconds']:,.0f} s | {row['cpu_seconds']:,.0f} s "
            f"| {found['articles'] / row['cpu_seconds']:,.1f} | {row['peak_rss_mb']:,} MB "
            f"| {row['written_mb']:,.0f} MB |"
            for found in result["sizes"].values()
            for step, row in ((step, found[step]) for step in STEPS)
        ),
        *(
            f"| {MILLION:,}, projected | {step} | | {million['cpu_hours'][step]:,} h | | "
            f"| {million['kept_gb'][step]:,} GB |"
            for step in STEPS
        ),
    ]


def limits(result: Mapping[str, Any]) -> list[str]:
    """How far one machine goes, by what was measured."""
    million = result["a_million"]
    a_day = MILLION * DAY_HOURS / (million["cpu_hours"]["extract"] + million["cpu_hours"]["ground"])
    asked = million["requests"] / MILLION
    larger = list(result["sizes"].values())[-1]
    memory = max(larger[step]["peak_rss_mb"] for step in STEPS)
    return [
        f"* **Processors**: a core extracts and grounds {a_day:,.0f} articles a day, sixteen cores "
        f"{16 * a_day / 1e6:.1f} million.",
        f"* **Network**: {asked:.1f} requests an article; at {RATE:.0f} a second, as by default, "
        f"{RATE * DAY_HOURS * 3600 / asked:,.0f} articles a day, whatever the machine.",
        f"* **Disk**: {sum(million['kept_gb'].values()):,.0f} GB for a million articles with small images; "
        "real images take more, and merged tables and releases come on top (see the sizes above).",
        f"* **Memory**: {memory:,} MB for all processes at {larger['articles']:,} articles; it grows with "
        "the processes, not with the articles.",
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
        f"{million['xml_gb']:,} GB of XML. `python -m benchmarks.articles_at_size`",
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
    finally:
        if chosen.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    result = {"sizes": sizes, "a_million": of_million(*list(sizes.values())[-2:])}
    page.put("articles", [*table(result), "", *limits(result)])
    print(save(NAME, result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
