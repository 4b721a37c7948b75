"""Inserts requests and sentences of third parties into the data of a conversation."""
