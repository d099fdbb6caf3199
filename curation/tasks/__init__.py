"""One file per benchmark task; each declares its stages, grades and checks as a Task."""
