"""Questions in several languages, answered by English passages about one concept and one facet of it."""
