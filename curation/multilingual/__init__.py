"""Whether a text in another language says what an English one does: checks of translated queries."""
