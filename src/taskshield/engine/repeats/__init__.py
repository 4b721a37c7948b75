"""What a session has blocked or approved already, and what has the same effect."""
