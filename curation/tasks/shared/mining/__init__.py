"""Mining: the passages that several systems find for the texts that stand for a query."""
