"""People's judgements: review of candidates by clinicians."""
