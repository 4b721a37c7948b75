"""The offline audit: logs at rest, read and replayed through a shield."""
