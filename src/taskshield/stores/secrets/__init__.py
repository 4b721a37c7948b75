"""Secrets found in text and replaced before anything is stored."""
