"""The embedded judge: a small local model and deterministic evidence; no key, no network."""
