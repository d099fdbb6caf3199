"""More than one machine: shards made by the workers of a Dask cluster, and the store that they share."""
