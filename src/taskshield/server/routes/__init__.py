"""The surfaces, one module each."""
