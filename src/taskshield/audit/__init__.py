"""The offline audit: recorded conversations are read from logs and replayed through a shield."""
