"""Models and services other than repositories and Label Studio: request rows in, answer Parquet out."""
