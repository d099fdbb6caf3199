"""The command line: verbs turn options into requests."""
