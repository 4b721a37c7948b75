"""The dashboard: its static files, the playground behind it, and its figures and samples.

`static` has many small scripts because browsers load them as they are: there is no build step.
"""
