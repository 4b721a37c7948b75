"""Reads the hand-written training data and splits it into folds."""
