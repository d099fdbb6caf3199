"""Settings under which one machine computes as another would, for tests and benchmarks that compare bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

GLIBC = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"}
"""libm without fused multiplication; no setting of numpy's or OpenBLAS' reaches it."""
_CODECS = {"JSIMD_FORCENONE": "1", "ARROW_USER_SIMD_LEVEL": "NONE"}
_NAMES = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES", *GLIBC, *_CODECS)


def has(*flags: str) -> bool:
    """Whether this machine's processor has all these features, by the kernel's names of them."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    held = next((line.split() for line in lines if line.startswith("flags")), [])
    return set(flags) <= set(held)


def without(*starts: str) -> dict[str, str]:
    """What keeps numpy from the features it chooses at run time; only those whose names begin so."""
    about: dict[str, Any] = np.show_config(mode="dicts")  # type: ignore[assignment]
    named = [name for name in about["SIMD Extensions"]["found"] if name.startswith(starts or "")]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(named)} if named else {}


def opposite() -> dict[str, str]:
    """The oldest x86-64 processor in everything that can be told to be one."""
    blas = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
    return {**blas, **without(), **GLIBC, **_CODECS}


def settings() -> dict[str, dict[str, str]]:
    """Name -> environment of every setting this machine can be put in; 'default' is the first."""
    made = {
        "default": {},
        "OpenBLAS Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
        "OpenBLAS Haswell": {"OPENBLAS_CORETYPE": "Haswell"} if has("avx2") else {},
        "OpenBLAS SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"} if has("avx512vl") else {},
        "OpenBLAS in one thread": {"OPENBLAS_NUM_THREADS": "1"},
        "OpenBLAS in four threads": {"OPENBLAS_NUM_THREADS": "4"},
        "numpy without AVX-512": without("AVX512", "X86_V4"),
        "numpy without extensions": without(),
        "glibc without FMA and AVX2": GLIBC,
        "codecs and Arrow without SIMD": _CODECS,
        "all at once": opposite(),
    }
    return {name: given for name, given in made.items() if given or name == "default"}


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """This process' environment in one of the settings."""
    return {name: value for name, value in os.environ.items() if name not in _NAMES} | dict(given)
