"""Figures computed from records. Pure."""
