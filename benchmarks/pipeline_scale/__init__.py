"""The pipeline at M3Retrieve's size: generated work/ shards through build, release, audit and evaluate."""
