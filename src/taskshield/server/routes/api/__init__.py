"""The native API under /api."""
