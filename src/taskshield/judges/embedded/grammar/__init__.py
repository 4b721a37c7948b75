"""Sentences, clauses and the words that open a directive."""
