"""Conversations in logs: traces, exports and recorded runs."""
