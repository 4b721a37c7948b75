"""`taskshield audit`: judge logs and report on them."""
