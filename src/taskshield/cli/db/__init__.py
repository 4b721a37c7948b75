"""`taskshield db`: commands for the store of a server."""
