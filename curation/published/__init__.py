"""Releases on disk: the manifest, the Parquet files of a task, how they are asked."""
