"""What people hold: shields and their sessions, async and sync."""
