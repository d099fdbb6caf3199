"""The results of an evaluation as one HTML page with tables and inline SVG plots."""
