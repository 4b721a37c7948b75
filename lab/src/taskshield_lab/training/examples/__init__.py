"""Makes training examples of labelled conversations and public data."""
