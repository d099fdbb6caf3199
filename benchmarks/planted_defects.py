"""Defects written by hand into a published release of any size: the files are edited, nothing else is told."""
PLANTED = {}
def plant(directory):
    raise NotImplementedError
