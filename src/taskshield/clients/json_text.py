"""Text that can be sent as JSON, and answers that are read as untrusted JSON."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from taskshield.core.errors import UpstreamError

_Answer = TypeVar("_Answer", bound=BaseModel)


def encodable(text: str) -> str:
    """The same text without lone surrogates.

    JSON from a hostile tool can hold them as escapes. They have no UTF-8 form, so the request would
    fail on our side, and an attacker could switch the judge off with one of them.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_answer(model: type[_Answer], body: bytes) -> _Answer:
    """Read the body of a successful answer.

    The SDKs' own models are not used for this: they accept any JSON without a check, and a wrong
    shape shows only later, as an AttributeError.

    Raises:
        UpstreamError: The body is not JSON, or not of this shape.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError:
        pass
    # Raised outside the handler: the validation error quotes the answer.
    raise UpstreamError("The endpoint's answer could not be read.", status=200)
