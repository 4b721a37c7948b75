"""The verdict on one call: features, the calibrated classifier, and the reason in words."""
