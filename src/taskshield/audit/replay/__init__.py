"""Replays conversations through a shield: in this process, in several, or on a Ray cluster."""
