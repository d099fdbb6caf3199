"""Pure work on records: extraction, concepts, tasks, release. No network, clock or randomness."""
