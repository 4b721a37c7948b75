"""What checks cost: model calls and tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Model calls and tokens, as reported by the endpoint."""

    calls: int = 0
    """Requests that the endpoint answered."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: int = 0
    """Checks without a model call, because a cheaper judge was sure."""
    fallbacks: int = 0
    """Checks on which the model gave no verdict, so that a cheaper judge's counted."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            saved=self.saved + other.saved,
            fallbacks=self.fallbacks + other.fallbacks,
        )

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens


NO_USAGE = Usage()


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has, without a tokenizer.

    Four bytes of UTF-8 for a token is close for English and too many tokens for most other scripts,
    which is the safe side for a budget.
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
