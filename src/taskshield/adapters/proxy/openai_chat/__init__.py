"""OpenAI chat completions, for a proxy."""
