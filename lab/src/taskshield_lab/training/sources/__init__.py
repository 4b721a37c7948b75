"""Hand-written scenarios, openings, styles and worlds; what is kept for validation."""
