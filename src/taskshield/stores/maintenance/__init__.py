"""Looks after databases of stores: backups, checks, repairs. Servers do not need it."""
