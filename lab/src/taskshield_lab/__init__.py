"""Measuring judges and training the embedded one. Not part of the guard."""
