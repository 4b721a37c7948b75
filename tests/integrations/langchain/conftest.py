from collections.abc import Iterator

import pytest

from tests.integrations.langchain.agents import careful_judge
from tests.integrations.shields import Guard, made_with


@pytest.fixture
def guard() -> Iterator[Guard]:
    yield from made_with(careful_judge)
