"""What CONTRIBUTING.md promises and git can show."""

import re
import subprocess

import pytest

from tests.docs.pages import ROOT, text

MODEL_FILES = ("*.onnx", "*.safetensors", "*.pt", "*.pth", "*.gguf", "*.bin", "*.npy", "*.npz")
RELEASED = ("src/taskshield/judges/embedded/network/weights/", "lab/data/shipped_model/")


def git(*arguments: str) -> str:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    return subprocess.run(
        ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True
    ).stdout


def test_git_tracks_the_released_model_only() -> None:
    tracked = git("ls-files", *MODEL_FILES).splitlines()
    assert tracked
    assert [path for path in tracked if not path.startswith(RELEASED)] == []


def test_git_ignores_the_models_of_the_lab() -> None:
    assert git("check-ignore", "lab/models/some/weights/model.onnx")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_commands_named_are_verbs_of_the_makefile(page: str) -> None:
    verbs = re.findall(r"^([a-z]+):.*## ", text("Makefile"), re.MULTILINE)
    named = re.findall(r"(?:^    |`)make ([a-z]+)", text(page), re.MULTILINE)
    assert named and set(named) <= set(verbs)
