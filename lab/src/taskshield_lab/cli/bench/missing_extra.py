"""Names the extra `eval` if one of its packages is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from taskshield.core.errors import MissingExtraError

_PACKAGES = ("agentdojo", "email_validator", "matplotlib")


@contextmanager
def needs_eval() -> Iterator[None]:
    """Turn a failed import in this block into an error that names the extra.

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
