"""The user's words about what is allowed: words, phrases, amounts, times, and their reading."""
