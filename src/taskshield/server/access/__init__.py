"""Who may ask: API keys, logins and rate limits."""
