"""What every verb stands on: settings, workspace, database, and stages run over shards."""
