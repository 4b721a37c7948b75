"""The exam needs packages that guarding does not."""

from collections.abc import Iterator
from contextlib import contextmanager

from taskshield.core.errors import MissingExtraError

_PACKAGES = ("agentdojo", "email_validator", "matplotlib")


@contextmanager
def needs_eval() -> Iterator[None]:
    """Imports in this block say which extra they belong to, where it is missing.

    Raises:
        MissingExtraError: A package of the extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _PACKAGES:
            raise
        raise MissingExtraError(missing, "eval") from None
