"""The dashboard: its static files, the playground behind it, and its figures and samples."""
