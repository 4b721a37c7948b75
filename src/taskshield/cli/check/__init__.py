"""`taskshield check`: judge a recorded conversation and report on it."""
