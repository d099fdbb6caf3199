"""What only reads: audit, status, show, doctor, previews."""
