"""Data for the embedded judge's model, and the training of it."""
