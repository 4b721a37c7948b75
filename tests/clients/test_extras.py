"""The SDKs are optional, and loaded only by the client that needs them."""

import importlib
import subprocess
import sys

import pytest

from taskshield.core.errors import MissingExtraError


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_a_missing_sdk_names_the_extra_to_install(
    sdk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"taskshield.clients.{sdk}", raising=False)
    monkeypatch.setitem(sys.modules, sdk, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'taskshield\[{sdk}\]'"):
        importlib.import_module(f"taskshield.clients.{sdk}")


def test_no_sdk_is_loaded_before_its_client_is() -> None:
    program = (
        "import sys, taskshield, taskshield.clients.negotiation, taskshield.clients.scripted\n"
        "print({'openai', 'anthropic', 'httpx2'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "set()"
