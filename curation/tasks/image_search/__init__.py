"""Image search: from a short clinical text to the images it tells of."""
