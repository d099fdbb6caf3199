"""Wiring: the only package that knows Prefect, settings, the workspace and the command line."""

import os

# OpenBLAS reads it when numpy is first imported, here and in every process that is started from here. Work is
# shared out to processes; threads of BLAS would wait for each other over matrices as small as ours.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
