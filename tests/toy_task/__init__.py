"""The shortest task that goes all the way: one folder, and one line in the registry."""
