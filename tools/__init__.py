"""Checks of this repository that no other tool has."""
