"""Access: API keys, logins on the dashboard, rate limits."""
