"""Varies a scenario: other names, numbers, dates and tools."""
