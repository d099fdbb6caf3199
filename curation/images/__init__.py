"""What is seen of a figure's image file: safe decoding, fingerprints, kind, panels, flags."""
