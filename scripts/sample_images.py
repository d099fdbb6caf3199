"""Write the images of the embedded sample and refresh the checksums in its metadata JSON.

The pictures are computed with fixed seeds; the prose of the articles is written by hand and stays as it is.
Run from the repository root: python -m scripts.sample_images [--bucket DIR]
"""

import argparse
import hashlib
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, PngImagePlugin

from scripts import sample_bones as bone
from scripts import sample_charts as chart
from scripts import sample_photographs as photo
from scripts import sample_pictures as pic
from scripts import sample_tissue as slide
from scripts import sample_trunk as body
from scripts.sample_pictures import Rng, panels

MARK = "medqrels synthetic sample"
BUCKET = Path(__file__).resolve().parents[1] / "sources" / "sample" / "bucket"
IMAGE_SUFFIXES = {".jpg", ".png", ".gif"}
MAX_BYTES = 80_000


# --- what each file of the bucket shows ---------------------------------------------------------------
def brain_set(rng: Rng) -> Image.Image:
    """Four panels: oedema on FLAIR, diffusion, its coefficient map, and a normal lower level."""
    views = [pic.brain(rng, k) for k in ("flair", "dwi", "adc")] + [pic.brain(rng, "flair", False, True)]
    return panels(views, "ABCD", 2, (330, 330))


def healing(rng: Rng) -> Image.Image:
    """Four photographs of one ulcer from fresh to scar."""
    return panels([photo.skin(rng, "ulcer", k) for k in (0.0, 0.35, 0.65, 1.0)], "abcd", 2, (340, 275))


Draw = Callable[[Rng], Image.Image]
PICTURES: dict[str, dict[str, Draw]] = {
    "PMC990000001.1": {
        "12999_2024_1_Fig1_HTML.png": lambda r: chart.ecg(r, "block"),
        "12999_2024_1_Fig2_HTML.jpg": lambda r: pic.chest(r, "hila"),
        "12999_2024_1_Fig3_HTML.jpg": lambda r: panels(
            [pic.heart_mr(r), pic.heart_mr(r, 1.0), pic.heart_mr(r, 0.0)], "ABC", 3, (280, 280)
        ),
    },
    "PMC990000002.1": {
        "msjd-12-e202-gf01.jpg": lambda r: photo.skin(r, "ulcer"),
        "msjd-12-e202-gf02a.jpg": lambda r: photo.skin(r, "nodule"),
        "msjd-12-e202-gf02b.jpg": lambda r: photo.histology(r, "amastigotes"),
        "msjd-12-e202-gf03.jpg": healing,
    },
    "PMC990000003.1": {
        "msfn-14-990003-g0001.jpg": brain_set,
        "msfn-14-990003-g0002.jpg": chart.pressure,
        "msfn-14-990003-g0003.jpg": lambda r: pic.brain(r, "flair", False),
        "msfn-14-990003-ga.jpg": lambda r: panels(
            [pic.brain(r, "flair"), pic.brain(r, "flair", False)], "12", 2, (300, 300)
        ),
    },
    "PMC990000005.1": {
        "msjg-31-e990005-gf01.jpg": lambda r: pic.fan(r, "spleen"),
        "msjg-31-e990005-gf02.jpg": pic.ct_abdomen,
        "msjg-31-e990005-gf03.jpg": lambda r: chart.grades(),
    },
    "PMC990000006.1": {"gr1.jpg": photo.fundus, "gr2.jpg": photo.oct_scan},
    "PMC990000007.1": {
        "10.5555_msjo.9.31-F1_OC.jpg": pic.hand,
        "10.5555_msjo.9.31-F1_PB.jpg": lambda r: pic.hand(r).resize((400, 523)).convert("L"),
        "10.5555_msjo.9.31-F2.jpg": lambda r: photo.histology(r, "brown"),
        "10.5555_msjo.9.31-F3.png": lambda r: chart.feedback(),
        "10.5555_msjo.9.31-F5.jpg": lambda r: photo.skin(r, "scar"),
    },
    "PMC990000008.1": {
        "msjid-e990008-fig1.png": chart.km_pair,
        "msjid-e990008-fig2.png": lambda r: chart.months(),
        "msjid-e990008-fig2-figsupp1.jpg": lambda r: pic.chest(r, "cavity"),
        "msjid-e990008-fig3.png": lambda r: chart.roc((("score", 0.81, False), ("cavitation", 0.66, True))),
        "msjid-e990008-fig4.png": lambda r: chart.enrolment(),
        "msjid-e990008-inf1.png": lambda r: chart.line_of_text("P < 0.001", (110, 28), 18),
        "msjid-e990008-equ1.png": lambda r: chart.line_of_text(
            "L = 1.1 C + 0.9 T + 0.6 S + 0.5 W", (420, 48), 24
        ),
    },
    "PMC990000009.1": {"msjh_118_f1.jpg": photo.blood_film, "msjh_118_f2.png": lambda r: chart.platelets()},
    "PMC990000010.1": {
        "msje-18-64-box1.png": lambda r: chart.line_of_text("Measure ionised calcium early", (600, 80), 28),
        "msje-18-64-g1.gif": pic.neck,
        "msje-18-64-g2.png": lambda r: chart.calcium(),
        "msje-18-64-g3.jpg": lambda r: photo.histology(r, "chief"),
        "msje-18-64-g5.png": lambda r: chart.timeline(),
    },
    "PMC990000011.1": {
        "msjo-10-22-g001.jpg": lambda r: pic.fan(r, "pelvis"),
        "msjo-10-22-g002.png": lambda r: chart.roc((("before 34 weeks", 0.93, False), ("later", 0.64, True))),
    },
    "PMC990000012.1": {
        "msvc-4-9-f1.png": lambda r: chart.ecg(r, "fibrillation"),
        "msvc-4-9-f2.jpg": lambda r: pic.fan(r, "echo"),
        "msvc-4-9-f3.png": lambda r: chart.dog_course(),
    },
    "PMC990000013.1": {
        "msjgi-11-207-F1.jpg": body.bowel_axial,
        "msjgi-11-207-F2.jpg": body.bowel_coronal,
        "msjgi-11-207-F3.jpg": body.ileoscopy,
    },
    "PMC990000014.1": {
        "mscg-06-e61-g001.jpg": body.enterography,
        "mscg-06-e61-g002.jpg": lambda r: slide.tissue(r, "ileum"),
    },
    "PMC990000015.1": {
        "mshc-4-118-f01.png": slide.deep_t_waves,
        "mshc-4-118-f02.jpg": lambda r: body.apical_view(r, True),
        "mshc-4-118-f03.jpg": lambda r: body.apical_view(r, False),
    },
    "PMC990000016.1": {
        "msrcc-2025-19-26-fig1.jpg": body.ventriculogram,
        "msrcc-2025-19-26-fig2.jpg": lambda r: body.long_axis_mr(r, "late"),
    },
    "PMC990000017.1": {
        "msjmi_2_15-F1.jpg": bone.hip_film,
        "msjmi_2_15-F2.jpg": lambda r: bone.hip_ct(r, False),
        "msjmi_2_15-F3.jpg": lambda r: bone.hip_ct(r, True),
    },
    "PMC990000018.1": {
        "mssr-08-044-f1.jpg": bone.scintigram,
        "mssr-08-044-f2.jpg": bone.vertebra_ct,
        "mssr-08-044-f3.jpg": lambda r: slide.tissue(r, "woven"),
    },
    "PMC990000019.1": {"mson-13-9-g1.jpg": bone.canal_t1, "mson-13-9-g2.jpg": bone.canal_t2},
    "PMC990000020.1": {
        "msan-31-e312-001.jpg": bone.angle_mass,
        "msan-31-e312-002.jpg": lambda r: slide.tissue(r, "palisade"),
    },
    "PMC990000021.1": {
        "msjuo-15-90-F1.jpg": body.kidney_axial,
        "msjuo-15-90-F2.jpg": body.specimen,
        "msjuo-15-90-F3.jpg": lambda r: slide.tissue(r, "papillae"),
    },
    "PMC990000022.1": {
        "msvu-3-33-fig-1.jpg": body.caval_ultrasound,
        "msvu-3-33-fig-2.jpg": body.caval_coronal,
    },
    "PMC990000023.1": {
        "mstp.10.72-F1.jpg": lambda r: body.abscess_film(r, False),
        "mstp.10.72-F2.jpg": lambda r: body.abscess_ct(r, False),
        "mstp.10.72-F3.jpg": lambda r: body.abscess_ct(r, True),
        "mstp.10.72-F4.jpg": lambda r: body.abscess_film(r, True),
    },
    "PMC990000024.1": {
        "mscsl-05-e505-g001.jpg": lambda r: body.shell_ct(r, "axial"),
        "mscsl-05-e505-g002.jpg": lambda r: body.shell_ct(r, "sagittal"),
        "mscsl-05-e505-g003.jpg": lambda r: body.long_axis_mr(r, "wide"),
        "mscsl-05-e505-g004.jpg": body.septum_mr,
    },
}
ALVEOLAR: dict[str, Draw] = {
    "MSJP2022-990004.001.jpg": lambda r: pic.chest(r, "opacities"),
    "MSJP2022-990004.002a.jpg": lambda r: pic.ct_chest(r, "upper"),
    "MSJP2022-990004.002b.jpg": lambda r: pic.ct_chest(r, "carina"),
    "MSJP2022-990004.003.jpg": lambda r: photo.histology(r, "granuloma"),
}
PICTURES |= {f"PMC990000004.{version}": ALVEOLAR for version in (1, 2)}  # both versions ship the same files


# --- files --------------------------------------------------------------------------------------------
def encode(im: Image.Image, suffix: str) -> bytes:
    """Picture as PNG, GIF or JPEG of at most MAX_BYTES, carrying MARK as text chunk or comment."""
    out = io.BytesIO()
    if suffix == ".png":
        info = PngImagePlugin.PngInfo()
        info.add_text("Comment", MARK)
        im.quantize(64).save(out, "PNG", pnginfo=info, optimize=True)
        return out.getvalue()
    if suffix == ".gif":
        im.quantize(16).save(out, "GIF", comment=MARK)
        return out.getvalue()
    for quality in (88, 82, 76, 70, 62, 54, 46):
        out = io.BytesIO()
        im.save(out, "JPEG", quality=quality, optimize=True, comment=MARK)
        if out.tell() <= MAX_BYTES:
            break
    return out.getvalue()


def seeded(name: str) -> Rng:
    """Generator seeded by a file's name."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def draw_all(bucket: Path) -> int:
    """Write every picture; the seed is the file's name, so order and selection do not matter."""
    total = 0
    for folder, files in PICTURES.items():
        for name, draw in files.items():
            data = encode(draw(seeded(name)), Path(name).suffix)
            if len(data) > MAX_BYTES:
                raise SystemExit(f"{folder}/{name}: {len(data)} bytes, limit {MAX_BYTES}: make it smaller")
            (bucket / folder / name).write_bytes(data)
            total += len(data)
    return total


def refresh(bucket: Path) -> None:
    """Rewrite xml_url and media_urls with true MD5s, and copy each JSON to metadata/."""
    (bucket / "metadata").mkdir(exist_ok=True)
    for folder in sorted(p for p in bucket.iterdir() if p.name.startswith("PMC")):
        path = folder / f"{folder.name}.json"
        record = json.loads(path.read_text(encoding="utf-8"))

        def url(file: Path) -> str:
            digest = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
            return f"s3://pmc-oa-opendata/{file.parent.name}/{file.name}?md5={digest}"

        media = sorted(p for p in folder.iterdir() if p.suffix in IMAGE_SUFFIXES)
        record |= {"xml_url": url(folder / f"{folder.name}.xml"), "media_urls": [url(p) for p in media]}
        data = (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode()
        path.write_bytes(data)
        (bucket / "metadata" / path.name).write_bytes(data)


def main() -> None:
    """Draw, refresh, say what was done."""
    parser = argparse.ArgumentParser(description="Redraw the sample images and refresh their checksums.")
    parser.add_argument("--bucket", type=Path, default=BUCKET, help="folder in the layout of the PMC bucket")
    bucket: Path = parser.parse_args().bucket
    total = draw_all(bucket)
    refresh(bucket)
    print(f"{sum(map(len, PICTURES.values()))} images, {total:,} bytes, in {bucket}")


if __name__ == "__main__":
    main()
