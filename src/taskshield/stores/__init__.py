"""Stores: what a server remembers, in memory, in SQLite or in Postgres."""
