"""Shields and their sessions, async and sync: the library's front."""
