"""The report on a review: agreement with intervals, confusions, gold items, time; as JSON and as one page."""
