"""Commands that destroy a whole machine, and those that only look as if they did."""

import json

import pytest

from taskshield.core.messages import ToolCall
from taskshield.engine.shell.destruction import asks_to_remove, destroys, glance
from taskshield.engine.shell.scripts import scripts
from tests.linear import is_linear

DESTROYING = [
    "rm -rf /",
    "rm -fr /*",
    "rm -r --no-preserve-root /",
    "sudo rm -rf /",
    "sudo -u root rm -rf / --no-preserve-root",
    "rm -Rf ~",
    "rm -rf ~/",
    "rm -rf ~/*",
    "rm -rf $HOME",
    'rm -rf "${HOME}"/',
    "rm -rf /home/anna",
    "rm -rf /etc /usr",
    "rm -rf /var/*",
    "cd / && rm -rf /./*",
    "sh -c 'rm -rf /'",
    "echo cm0gLXJmIC8K | base64 -d | sh",
    "find / -delete",
    "find / -type f -exec rm {} \\;",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "mkfs.ext4 /dev/sda1",
    "cat /dev/urandom > /dev/nvme0n1",
    ":(){ :|:& };:",
    "chmod -R 000 /",
    "chmod -R 777 /etc",
    "mv / /dev/null",
    "mv ~/* /dev/null",
    "wipefs -a /dev/vda",
    "rd /s /q C:\\",
    "del /f /s /q C:\\*",
    "Remove-Item -Recurse -Force C:\\",
    "format C:",
    "rm -rf //",
    "rm -rf /../",
    "python3 -c \"import shutil; shutil.rmtree('/')\"",
    "xargs rm -rf < / /",
    "nohup rm -rf / &",
    'r""m -r""f /',
    "rm${IFS}-rf${IFS}/",
    "rm -r -f /",
    "rm --recursive --force /",
    "shred -u /dev/sda",
    "timeout 5 rm -rf /",
]
HARMLESS = [
    "rm -rf build/",
    "rm -rf ./node_modules",
    "rm -rf /tmp/work",
    "rm -rf *",
    "rm -rf .pytest_cache ../out",
    "rm -rf /home/anna/project/build",
    "rm -rf ~/.cache/pip",
    "rm -rf $HOME/.cache",
    "rm -rf /var/lib/apt/lists/*",
    "rm -rf /var/tmp/x",
    "rm -rf .",
    "rm notes.txt",
    "rm -f /etc/nginx/sites-enabled/default",
    "find . -name '*.pyc' -delete",
    "find / -name core -delete",
    "dd if=/dev/zero of=disk.img bs=1M count=10",
    "chmod -R 755 dist",
    "chmod 600 ~/.ssh/id_rsa",
    "ls -R /",
    "grep -r foo /",
    "cp -r ~ /mnt/backup",
    "du -sh /home/anna",
    'echo "rm -rf / is dangerous"',
    'git commit -m "never rm -rf /"',
    "mkfs.ext4 disk.img",
    "cat a > /dev/null",
    "mv a /dev/null",
    "npm run format",
    'rm -rf "$BUILD_DIR"',
    "rm -rf ${BUILD}/",
    "rm -rf /opt/app/releases/1",
    "chown -R app:app /srv/app",
    "rm -rf ../",
    "docker run --rm -v /:/host alpine ls",
    "rsync -r / backup:/",
]


@pytest.mark.parametrize("command", DESTROYING)
def test_what_destroys_a_machine_is_found(command: str) -> None:
    assert destroys(command)


@pytest.mark.parametrize("command", HARMLESS)
def test_ordinary_commands_are_left_to_the_judge(command: str) -> None:
    assert destroys(command) is None


def test_words_that_may_ask_for_it() -> None:
    for said in ("Wipe this machine", "Lösche alles in /var", "Format the disk", "清空并删除"):
        assert asks_to_remove(said)
    assert not asks_to_remove("Fix the failing test.")


def test_a_long_text_is_glanced_at() -> None:
    filler = "echo done\n" * 20_000
    for command in ("rm -rf /", "cat x > /dev/sda", "sudo find / -delete"):
        shown = glance(f"{filler}{command}\n{filler}")
        assert len(shown) < 100 and destroys(shown)


def test_of_a_tool_that_no_one_declared_every_argument_may_be_a_command() -> None:
    call = ToolCall(
        id="c", name="x", arguments=json.dumps({"path": "rm -rf /", "note": "rm -rf ~"})
    )
    assert [text for text, _ in scripts(call, declared=False)] == ["rm -rf /"]
    assert list(scripts(call)) == []
    bare = ToolCall(id="c", name="x", arguments="rm -rf /")
    assert [text for text, _ in scripts(bare, declared=False)] == ["rm -rf /"]


@pytest.mark.parametrize(
    "unit", ["rm ", "rm -r ", "/", "~/", "../", "find / ", "> ", "../*", ": (", "-r"]
)
def test_time_grows_with_the_length(unit: str) -> None:
    assert is_linear(destroys, unit)
    assert is_linear(glance, unit)
