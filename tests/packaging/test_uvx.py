"""`uvx taskshield`: the command runs from the wheel without an installation of one's own."""

from taskshield import __version__
from tests.cli.stage import HIJACKED
from tests.packaging.wheels import Wheels, install


def test_uvx_runs_the_command_from_the_wheel(wheels: Wheels) -> None:
    words = ("tool", "run", "--isolated", "--from", str(wheels.product), "taskshield")
    assert install(*words, "--version").stdout.split() == ["taskshield", __version__]
    told = install(*words, "check", "--json", str(HIJACKED), statuses=(1,))
    assert '"misaligned"' in told.stdout
