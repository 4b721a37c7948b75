"""Stored documents: JSON text of core values with a version, and back.

The layout of each document is written here and nowhere else: renaming a field of a core class
changes no document. `documents` knows versions, `shapes` and `records` how a value looks as JSON,
and the other modules which documents there are.
"""
