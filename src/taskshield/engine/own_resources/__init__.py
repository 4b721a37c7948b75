"""Calls that reach the guard itself: its address, files, settings and process."""
