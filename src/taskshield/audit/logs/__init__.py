"""Finds, unpacks and reads log files, and extracts their conversations."""
