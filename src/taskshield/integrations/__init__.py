"""Where agents already live: each file imports one framework and nothing else of its kind."""
