"""Whether a text names the guard's address, however it spells this machine.

Libraries for addresses are imported where one may stand: `import taskshield` comes through here.
"""

import re

from taskshield.engine.own_resources.values import OwnResources

_HOST = re.compile(r"\[[0-9A-Fa-f:.]{2,60}(?:%\w{1,20})?\]|[A-Za-z0-9][A-Za-z0-9_.-]*+")
_COLONS = re.compile(r"(?<![\w:.])(?:0{0,4}:){2,7}0{0,3}1(?![\w:.])")
"""`::1` without brackets, short or in full."""
_PORT = re.compile(r":0*+(\d{1,5})(?!\d)")
_UNKNOWN_PORT = re.compile(r":[\"']?[$`({+%<]")
_LOOPBACK_NAMES = frozenset(
    "localhost localhost.localdomain ip6-localhost ip6-loopback host.docker.internal"
    " gateway.docker.internal host.containers.internal localtest.me lvh.me".split()
)
"""Names of this machine, of the host of a container, and two public names that stand for it."""
_LOOPBACK_ENDINGS = (".localhost", ".localtest.me", ".lvh.me", ".nip.io", ".sslip.io")
_COMMON_PORTS = frozenset({80, 443, 3000, 5000, 8000, 8080, 8443})
"""On these ports other machines are likely to have servers, too."""
_DEFAULT_PORTS = frozenset({80, 443})
_NUMBER = re.compile(r"(?:0x[0-9a-f]{1,20}|\d{1,20})(?:\.(?:0x[0-9a-f]{1,20}|\d{1,20})){0,3}")
_SMALLEST_NUMBER = 1 << 24
"""Of a whole address as one number. Smaller ones are ordinary numbers."""
_BY_PORT = re.compile(
    r"\b(?:fuser|lsof|ss|netsh|get-nettcpconnection|netstat|kill-port|killport|iptables|nft|ufw"
    r"|socat|tcpkill|telnet|nc|ncat)\b",
    re.IGNORECASE,
)
"""Programs that find a server by its port."""


def names_address(text: str, own: OwnResources) -> bool:
    """Whether a text names the address of the guard's server."""
    if own.port is None:
        return False
    alone = re.compile(rf"(?<![\w.]){own.port}(?!\w|\.\d)")
    here = _COLONS.search(text) is not None
    for match in _HOST.finditer(text):
        if is_own_host(match[0], own):
            here = True
            if _reaches(text, match.end(), own.port):
                return True
    for port in _PORT.finditer(text):
        if int(port[1]) == own.port and (here or own.port not in _COMMON_PORTS):
            return True
    named = alone.search(text) is not None
    return named and (here or _BY_PORT.search(text) is not None)


def is_own_host(host: str, own: OwnResources) -> bool:
    """Whether a name or a number in any notation stands for the machine of the guard."""
    name = host.strip("[]").rstrip(".").casefold()
    if name in _LOOPBACK_NAMES or name in own.hosts:
        return True
    if name.endswith(_LOOPBACK_ENDINGS):
        return not name.endswith((".nip.io", ".sslip.io")) or "127" in name or "7f" in name
    if ":" in name:
        return _is_loopback_v6(name.partition("%")[0])
    return _NUMBER.fullmatch(name) is not None and _is_loopback_number(name)


def _reaches(text: str, end: int, port: int) -> bool:
    """Whether what follows a name of this machine is the port, or may become it."""
    if _UNKNOWN_PORT.match(text, end):
        return True
    return port in _DEFAULT_PORTS and not text.startswith(":", end)


def _is_loopback_v6(name: str) -> bool:
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped
    if mapped is not None:
        return mapped.is_loopback or mapped.is_unspecified
    return address.is_loopback or address.is_unspecified


def _is_loopback_number(name: str) -> bool:
    """In the notations that the C library reads: 127.1, 2130706433, 0x7f.1, 0177.0.0.1."""
    if "." not in name and not name.startswith(("0x", "0")) and int(name) < _SMALLEST_NUMBER:
        return False
    from socket import inet_aton

    try:
        packed = inet_aton(name)
    except OSError:
        return False
    return packed[0] == 127 or packed == b"\0\0\0\0"
