"""Questions whose answers passages support: what tasks that ask such questions have in common."""
