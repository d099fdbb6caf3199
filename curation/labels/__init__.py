"""Labels of records by rules that can be read: taxonomies and words are TOML files beside the code."""
