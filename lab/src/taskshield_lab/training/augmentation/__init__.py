"""The same scenario with other names, numbers, dates, tools and words."""
