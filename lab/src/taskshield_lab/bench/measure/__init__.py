"""Figures from records. Pure."""
