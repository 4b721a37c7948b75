"""OpenAI Responses, for a proxy."""
