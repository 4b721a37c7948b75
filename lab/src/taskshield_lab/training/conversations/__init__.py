"""Labelled conversations made from scenarios, openings and worlds."""
