"""Pure work on records: extraction, concepts, tasks, release. No network, clock, environment or randomness."""
