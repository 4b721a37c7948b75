"""The tools of wrapped servers: their descriptions are reviewed and pinned."""
