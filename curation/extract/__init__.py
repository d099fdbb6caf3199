"""From a parsed Article to figures with in-text mentions, passages, and the scope decision."""
