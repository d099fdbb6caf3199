"""What a query needs, and what solves it without reading: modality necessity and shortcuts, per query.

Pure parts; flows/evaluate/diagnostics.py runs the systems.
"""
