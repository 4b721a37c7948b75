"""Reading JSON that others wrote, with errors that name the path and never the value."""
