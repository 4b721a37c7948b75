"""What every route shares about HTTP: errors, limits, JSON responses, surfaces."""
