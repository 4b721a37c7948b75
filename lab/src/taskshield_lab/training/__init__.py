"""Training of the embedded judge's model: data, examples, network, fits and release.

Serving never imports it. What training and serving share is in `taskshield.judges.embedded`.
"""
