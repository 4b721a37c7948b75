"""Judges and the wrappers that compose them."""
