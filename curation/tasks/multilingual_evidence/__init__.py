"""Questions in several languages by checked translation, answered by English passages."""
