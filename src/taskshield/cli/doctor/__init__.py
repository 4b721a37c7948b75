"""`taskshield doctor`: finds what is wrong with a set-up, and says what to do.

It has many modules because each thing that is checked has one of its own.
"""
