"""What every route shares about HTTP: errors, limits, JSON responses, families of routes."""
