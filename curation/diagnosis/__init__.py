"""The principal diagnosis of each case, from what its title, statements, keywords and discussion name."""
