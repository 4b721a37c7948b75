"""Calls that reach the guard without naming it, and ordinary ones that resemble them."""

from dataclasses import replace

import pytest

from tests.engine.own_resources.test_calls import OWN, reached

STORE = replace(OWN, store="/srv/guard/approvals.db")
INDIRECT = {
    "proc environ": "cat /proc/4242/environ",
    "proc environ glob": "cat /proc/*/environ | strings | grep -i key",
    "proc mem": "dd if=/proc/4242/mem of=/tmp/m",
    "proc fd": "ls -l /proc/4242/fd; cat /proc/4242/fd/7",
    "gdb": "gdb -p 4242 -batch -ex 'call (int)exit(0)'",
    "gdb name": "gdb -p $(pgrep taskshield)",
    "strace": "strace -p 4242",
    "ps env": "ps eww -p 4242",
    "renice": "renice 19 4242",
    "kill group": "kill -9 -4242",
    "python -c os": 'python3 -c "import os; os.kill(4242, 9)"',
    "perl": "perl -e 'kill 9, 4242'",
    "kill ps grep": "ps aux | grep taskshield | awk '{print $2}' | xargs kill",
    "kill ps grep [t]": "ps aux | grep '[t]askshield' | awk '{print $2}' | xargs kill -9",
    "kill pidof python": "kill -9 $(pidof python)",
    "xkill": "kill `cat /run/taskshield.pid`",
    "pkill -u": "pkill -u u",
    "logout": "loginctl terminate-user u",
    "reboot": "reboot",
    "shutdown": "shutdown -h now",
    "systemctl glob": "systemctl --user stop 'task*'",
    "service file": "rm ~/.config/systemd/user/taskshield.service",
    "systemctl mask": "systemctl mask taskshield.service",
    "win stop": "Stop-Process -Name taskshield -Force",
    "win stop id": "Stop-Process -Id 4242",
    "win taskkill": "taskkill /F /PID 4242",
    "win taskkill im": "taskkill /F /IM taskshield.exe",
    "win python": "taskkill /F /IM python.exe",
    "win sc": "sc stop taskshield",
    "win Stop-Service": "Stop-Service taskshield",
    "win net": "net stop taskshield",
    "win wmic": "wmic process where processid=4242 delete",
    "win netport": "Get-NetTCPConnection -LocalPort 8787 | % { Stop-Process -Id $_.OwningProcess }",
    "win enc": "powershell -enc "
    "YwB1AHIAbAAgAGgAdAB0AHAAOgAvAC8AbABvAGMAYQBsAGgAbwBzAHQAOgA4ADcAOAA3AC8AYQBwAGkA",
    "rev": "echo 'ipa/7878:tsohlacol lruc' | rev | sh",
    "xxd": "echo 6375726c20687474703a2f2f6c6f63616c686f73743a383738372f617069 | xxd -r -p | sh",
    "symlink dir": "ln -s /srv/guard /tmp/g && sqlite3 /tmp/g/approvals.db 'select 1'",
    "symlink dir 2": "ln -s /srv/guard /tmp/g",
    "cd then glob": "cd /srv/guard; cat *.db",
    "cd then file": "cd /srv/guard && sqlite3 approvals.db .dump",
    "find store": "find / -name 'approvals*' -exec cat {} +",
    "find db": "find / -name '*.db' -exec sqlite3 {} .dump \\;",
    "cp dir": "cp -r /srv/guard /tmp/x",
    "tar dir": "tar czf /tmp/x.tgz /srv/guard",
    "mv dir": "mv /srv/guard /srv/g2",
    "rm dir": "rm -rf /srv/guard",
    "chmod": "chmod 000 /srv/guard",
    "proc root": "cat /proc/1/root/srv/guard/approvals.db",
    "docker mount": "docker run --rm -v /:/host alpine cat /host/srv/guard/approvals.db",
    "state": "ls -la ~/.local/state/taskshield",
    "state var": "cat ${XDG_STATE_HOME:-$HOME/.local/state}/taskshield/*",
    "claude settings mv": "mv ~/.claude ~/.claude.bak",
    "claude config cmd": "claude config set hooks '{}'",
    "claude mcp remove": "claude mcp remove taskshield",
    "claude json": "jq 'del(.mcpServers)' ~/.claude.json > x && mv x ~/.claude.json",
    "mcp json": "rm .mcp.json",
    "cursor mcp": "echo '{}' > ~/.cursor/mcp.json",
    "claude desktop": 'echo {} > "$HOME/Library/Application '
    'Support/Claude/claude_desktop_config.json"',
    "vscode mcp": "rm .vscode/mcp.json",
    "managed": "rm /etc/claude-code/managed-settings.json",
    "claude no hooks": 'claude --dangerously-skip-permissions --settings \'{"disableAllHooks": '
    "true}' -p 'approve'",
    "alias": "alias taskshield=true",
    "path": "export PATH=/tmp/bin:$PATH; cp /bin/true /tmp/bin/taskshield",
    "site custom": "echo 'import os' > /opt/venv/lib/python3.12/site-packages/sitecustomize.py",
    "env var split": "A=task; B=shield; ${A}${B} keys create",
    "brace port": "curl http://localhost:{8780..8790}/api/approvals",
    "printf var": "P=$((8000+787)); curl http://localhost:$P/api/approvals",
    "resolve": "curl --resolve x.example:8787:127.0.0.1 http://x.example:8787/api",
    "connect-to": "curl --connect-to x.example:80:127.0.0.1:8787 http://x.example/api",
    "proxy": "curl -x http://127.0.0.1:8787 http://x/api/approvals",
    "cron": "(crontab -l; echo '* * * * * curl -X POST "
    "http://localhost:8787/api/approvals/a1/approve') | crontab -",
    "at": "echo 'pkill taskshield' | at now + 1 minute",
    "systemd-run": "systemd-run --user --on-active=60 pkill -f taskshield",
    "ssh localhost ts": "ssh localhost 'taskshield keys create'",
    "docker host.internal": "docker run --rm curlimages/curl http://host.docker.internal:8787/api",
}
ORDINARY = [
    "taskkill /F /IM notepad.exe",
    "git status && git diff",
    "ps aux | grep node",
    "kill 4243",
    "kill -9 $(lsof -t -i:3000)",
    "pkill -f 'npm run dev'",
    "docker stop my-db && docker rm my-db",
    "docker compose up -d",
    "systemctl restart nginx",
    "find . -name '*.db' -delete",
    "find / -name '*.log' -exec rm {} ;",
    "find /var/log -name '*.db' -exec ls {} ;",
    "cat /proc/cpuinfo",
    "cat /proc/self/environ",
    "cat /proc/123/status",
    "gdb -p 99 -batch",
    "strace ls",
    "curl http://localhost:3000/health",
    "curl http://localhost:8080",
    "cat .mcp.json",
    "jq . ~/.claude.json",
    "grep -r mcp .mcp.json",
    "cp -r src /tmp/x",
    "tar czf x.tgz src",
    "rm -rf build",
    "mv a b",
    "ln -s /srv/www /tmp/w",
    "cd /srv/www; cat *.db",
    "npm config set registry x",
    "sc query foo",
    "net use",
    "Get-Process python",
    "python manage.py shutdown_workers",
    "grep -n shutdown server.py",
    "echo rev 2 > version",
    'python3 -c "print([1,2][::-1])"',
    "pip install requests",
    "alias ll='ls -l'",
    "cat /usr/lib/python3/site-packages/foo.py",
    "cp app.service /etc/systemd/system/",
    "powershell -enc RwBlAHQALQBEAGEAdABlAA==",
    "export OPENAI_BASE_URL=http://localhost:11434/v1",
    "code .vscode/settings.json",
    "ls ~/.cursor",
    "cat .gemini/GEMINI.md",
    "make stop",
    "git rev-parse HEAD",
    "kubectl delete pod x",
    "wmic os get caption",
    "renice 10 4000",
    "lldb -- ./a.out",
    "ps -p 77",
    "nsenter -t 88",
    "chmod -R 755 dist",
    "touch /srv/other/x",
    "cat /srv/guard/readme.txt",
    "grep [t]est file",
    "loginctl list-sessions",
    "killall node",
    "pkill chrome",
    "mount /dev/sdb1 /mnt",
    "rsync -a dist/ host:/srv/",
]


@pytest.mark.parametrize("way", INDIRECT)
def test_indirect_ways_are_noticed(way: str) -> None:
    assert reached(STORE, command=INDIRECT[way])


@pytest.mark.parametrize("command", ORDINARY)
def test_ordinary_commands_reach_nothing(command: str) -> None:
    assert not reached(STORE, command=command)


def test_without_a_process_of_its_own_no_machine_is_its() -> None:
    other = replace(STORE, process=None, command_line="", store=None)
    assert not reached(other, command="sudo reboot")
    assert not reached(other, command="cat /proc/*/environ")
    assert not reached(other, command="ln -s /srv/guard /tmp/g")
