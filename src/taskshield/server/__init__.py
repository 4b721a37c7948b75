"""The server: every surface of taskshield over HTTP, on one store."""
