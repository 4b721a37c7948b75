"""`taskshield audit`: replay logs through the shield and report on them."""
