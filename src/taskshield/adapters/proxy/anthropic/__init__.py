"""Anthropic messages, for a proxy."""
