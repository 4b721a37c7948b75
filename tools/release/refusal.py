"""Why a release is not made."""


class Refusal(Exception):
    """A release that is not made; the message says why, and what to do."""
