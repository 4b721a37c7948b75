"""Programs that can send files to other hosts, and when they do.

Each rule gets a command and the words after the program's name, and says which hosts get the
content of files.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from taskshield.engine.shell.command_lines import READS, Command
from taskshield.engine.shell.hosts import HOST, REMOTE, UNKNOWN, URL, code_hosts, url_hosts

_MAIL = re.compile(r"[\w.+-]{1,64}@([\w.-]{1,253})")
_FORM_FILE = re.compile(r"[^=@]{0,200}=[@<]")
_CURL_SENDS = ("--up", "--data", "--json", "--form", "--url-query")
_CURL_VALUES = frozenset(
    "--cacert --cert --config --connect-timeout --cookie --cookie-jar --header --key --max-time"
    " --output --proxy --referer --request --retry --url --user --user-agent --write-out".split()
)
_CURL_LETTERS = {"T": "--upload-file", "d": "--data", "F": "--form"} | dict.fromkeys(
    "AbcCeEHKmoPQrtuUwxXyYz", "other"
)
"""Short options with a value."""
Rule = Callable[[Command, list[str]], Iterable[str]]
"""The hosts to which a command with these arguments sends content of files."""


def _or_unknown(hosts: list[str]) -> list[str]:
    return hosts or [UNKNOWN]


def _curl(command: Command, words: list[str]) -> list[str]:
    """Requests by curl: files as body, form or upload, and content in the arguments."""
    sends = any(READS in word for word in words)
    free: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word.startswith("--"):
            name, given, value = word.partition("=")
            if name in _CURL_VALUES or name.startswith(_CURL_SENDS):
                value = value if given else next(waiting, "")
                sends = sends or _curl_sends(name, value, command)
                free += [value] if name == "--url" else []
        elif word.startswith("-"):
            sends = sends or _curl_cluster(word[1:], waiting, command)
        else:
            free.append(word)
    return _or_unknown(url_hosts(free, bare=False) or url_hosts(free)[:1]) if sends else []


def _curl_cluster(letters: str, waiting: Iterator[str], command: Command) -> bool:
    """Whether short options, which may stand together, send a file."""
    for place, letter in enumerate(letters):
        if letter in _CURL_LETTERS:
            value = letters[place + 1 :] or next(waiting, "")
            return _curl_sends(_CURL_LETTERS[letter], value, command)
    return False


def _curl_sends(name: str, value: str, command: Command) -> bool:
    """Whether an option with this value sends the content of a file."""
    if name.startswith("--up"):
        return value not in ("-", ".") or command.has_input
    if not name.startswith(_CURL_SENDS) or name in ("--data-raw", "--form-string"):
        return False
    if value in ("@-", "@/dev/stdin"):
        return command.has_input
    if name == "--data-urlencode" and "@" in value.partition("=")[0]:
        return True
    return value.startswith("@") or _FORM_FILE.match(value) is not None


def _wget(command: Command, words: list[str]) -> list[str]:
    sends = any(READS in word or word.startswith(("--post-f", "--body-f")) for word in words)
    options = ("-O", "-o", "-P", "-U", "--output-document", "--post-file", "--body-file")
    free = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and before not in options
    ]
    return _or_unknown(url_hosts(free)) if sends else []


def _httpie(command: Command, words: list[str]) -> list[str]:
    sends = command.has_input or any(
        READS in word or re.match(r"[\w.-]{0,100}(?:=|:=)?@\S", word) for word in words
    )
    return _or_unknown(url_hosts(words)) if sends else []


def _socket(command: Command, words: list[str]) -> list[str]:
    """What flows into nc and the like, or a program that they connect."""
    if words[:1] and words[0] in ("dgst", "enc", "req", "x509", "rsa", "pkcs12", "genrsa", "rand"):
        return []  # openssl, which only computes
    runs = any(
        re.match(r"-[a-z]{0,6}[ec]$|--(?:sh-)?exec|exec:|system:|open:|file:", word, re.I)
        for word in words
    )
    if not (runs or command.has_input or any(READS in word for word in words)):
        return []
    if {"-l", "--listen"} & set(words):
        return [UNKNOWN]
    joined = [part for word in words for part in word.split(":")]
    return _or_unknown(url_hosts(joined) or [word for word in words if word[:1].isalpha()][:1])


def _ssh(command: Command, words: list[str]) -> list[str]:
    if not command.has_input:
        return []
    free = [word for word in words if not word.startswith("-")]
    named = [word.rpartition("@")[2] for word in free if "@" in word or HOST.fullmatch(word)]
    return _or_unknown(named[:1] or [word for word in free if word.isidentifier()][:1])


def _copy(command: Command, words: list[str]) -> list[str]:
    """Copies: the last word is where to, and something before it is local."""
    free = [word for word in words if not word.startswith("-")]
    if not free:
        return []
    *sources, target = free
    remote = REMOTE.match(target)
    host = remote[1] if remote is not None else next(iter(url_hosts([target], bare=False)), "")
    is_local = any(REMOTE.match(one) is None and "://" not in one for one in sources)
    return [host] if host and is_local else []


def _transfer(command: Command, words: list[str]) -> list[str]:
    """What ftp and its kin are told to put."""
    told = " ".join((*words, command.body))
    puts = re.search(r"\b(?:m?put|mirror\s{1,9}-\w{0,9}R|send)\b", told) is not None
    if not (command.has_input or puts or "-b" in words):
        return []
    return _or_unknown(url_hosts(words) or [one.partition("@")[2] for one in words if "@" in one])


def _bucket(command: Command, words: list[str]) -> list[str]:
    """Tools of object stores: from a local path to a remote one."""
    verbs = {"cp", "mv", "sync", "put", "rsync", "put-object", "upload", "upload-batch", "copy"}
    verbs |= {"copyto", "move", "moveto", "rcat", "scp", "upload-file"}
    place = next((n for n, word in enumerate(words) if word in verbs), None)
    if place is None:
        return []
    endpoints = [
        host
        for before, word in zip(words, words[1:], strict=False)
        if before.startswith("--endpoint")
        for host in url_hosts([word])
    ] + [host for word in words if word.startswith("--endpoint") for host in url_hosts([word])]
    free = [word for word in words[place + 1 :] if not word.startswith("-")]
    if words[place] in ("put-object", "upload", "upload-batch", "put", "upload-file"):
        named = [*url_hosts(free, bare=False), *_after(words, "--bucket", "--account-name")]
        return _or_unknown(endpoints or named)
    remote = [one for one in free if "://" in one or REMOTE.match(one)]
    if not remote or remote[0] is free[0]:
        return []
    match = URL.search(remote[-1]) or REMOTE.match(remote[-1])
    return endpoints or [UNKNOWN if match is None else match[1]]


def _after(words: list[str], *options: str) -> list[str]:
    return [word for before, word in zip(words, words[1:], strict=False) if before in options]


def _mail(command: Command, words: list[str]) -> list[str]:
    attaches = any(word.startswith(("-a", "-A", "--att")) for word in words)
    if not (attaches or command.has_input or any(READS in word for word in words)):
        return []
    return _or_unknown([match[1] for word in words for match in _MAIL.finditer(word)])


def _name_lookup(command: Command, words: list[str]) -> list[str]:
    """Names that dig looks up and the like: content in a name goes to the server of its domain."""
    return [_domain(word) for word in words if READS in word]


def _domain(word: str) -> str:
    rest = word.rpartition(READS)[2].strip(".")
    return rest if "." in rest else UNKNOWN


def _pasted(command: Command, words: list[str]) -> list[str]:
    """Services that publish whatever they get."""
    sends = not words or words[0] in ("send", "upload") or "." in words[-1] or command.has_input
    return [UNKNOWN] if sends else []


def _publishes(command: Command, words: list[str]) -> list[str]:
    """Packages and images, where the command names the registry."""
    told = [word for word in words if word in ("push", "publish", "upload")]
    named = [word for word in words if "/" in word]
    hosts = url_hosts(word.partition("/")[0] if "://" not in word else word for word in named)
    return hosts if told else []


def _gist(command: Command, words: list[str]) -> list[str]:
    return [UNKNOWN] if words[:2] in (["gist", "create"], ["snippet", "create"]) else []


def _git(command: Command, words: list[str]) -> list[str]:
    """A push to an address; one to a remote by its name goes where the repository says."""
    if "push" not in words:
        return []
    rest = words[words.index("push") + 1 :]
    remote = [match[1] for word in rest if (match := REMOTE.match(word)) and "/" in word]
    return url_hosts(rest, bare=False) or remote


def _interpreter(command: Command, words: list[str]) -> list[str]:
    return [host for text in (*words, command.body) for host in code_hosts(text)]


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("curl", "curlie"), _curl),
    "wget": _wget,
    **dict.fromkeys(("http", "https", "xh", "xhs"), _httpie),
    **dict.fromkeys(("nc", "ncat", "netcat", "telnet", "socat", "openssl"), _socket),
    **dict.fromkeys(("ssh", "plink"), _ssh),
    **dict.fromkeys(("scp", "pscp", "rsync", "rcp"), _copy),
    **dict.fromkeys(("ftp", "sftp", "lftp", "tftp", "psftp", "ncftpput", "smbclient"), _transfer),
    **dict.fromkeys(
        ("aws", "gsutil", "gcloud", "az", "azcopy", "rclone", "s3cmd", "s5cmd", "mc", "b2"), _bucket
    ),
    **dict.fromkeys(
        ("mail", "mailx", "mutt", "sendmail", "msmtp", "swaks", "s-nail", "ssmtp"), _mail
    ),
    **dict.fromkeys(
        ("dig", "nslookup", "host", "drill", "kdig", "ping", "getent", "whois", "traceroute"),
        _name_lookup,
    ),
    **dict.fromkeys(("pastebinit", "wormhole", "croc", "ffsend", "termbin", "wgetpaste"), _pasted),
    **dict.fromkeys(("docker", "podman", "npm", "twine", "skopeo", "helm"), _publishes),
    **dict.fromkeys(("gh", "glab"), _gist),
    "git": _git,
    **dict.fromkeys(
        ("python", "python2", "python3", "node", "perl", "ruby", "php", "deno", "bun", "powershell")
        + ("pwsh", "iwr", "irm", "invoke-webrequest", "invoke-restmethod"),
        _interpreter,
    ),
}

_NAMED = re.compile(
    r"(?:^|[\n;|&(`]|\b(?:do|env|exec|sudo|then|xargs)\s)\s{0,9}(?:[\w./~-]{0,80}/)?"
    rf"(?:{'|'.join(sorted(RULES))})\s|/dev/(?:tcp|udp)/",
    re.IGNORECASE,
)
_QUOTES = str.maketrans("", "", "'\"\\^")


def may_send(text: str) -> bool:
    """Whether a text runs a program that can send files, as far as a glance tells."""
    return _NAMED.search(text.translate(_QUOTES)) is not None
