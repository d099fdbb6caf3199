"""What differs between two releases of a task: which rows, why, and how large a step that is."""
