"""The plots. Only here is matplotlib known."""
