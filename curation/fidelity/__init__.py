"""Whether a text that was written anew says what its source says: numbers, units, sides, denials, names."""
