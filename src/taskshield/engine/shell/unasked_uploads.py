"""Scripts that send the content of files to a host that the user did not name, and did not ask for.

What the user asks for is for the judge to say. This module finds what no words of the user can
mean: "run the tests" asks for no `curl -T ~/.ssh/id_rsa`.
"""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from taskshield.core import deadline
from taskshield.core.safe_text import one_line
from taskshield.engine.shell.hosts import UNKNOWN, code_hosts
from taskshield.engine.shell.scripts import Script
from taskshield.engine.shell.senders import may_send
from taskshield.engine.shell.uploads import Upload, uploads

_SECRET = re.compile(
    r"(?:^|[/\s@=])\.(?:ssh|aws|gnupg|kube|docker|azure|netrc|pgpass|npmrc|pypirc|env|git-credentials"
    r"|\w{1,10}_history|mozilla)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b"
    r"|\.(?:pem|key|p12|pfx|kdbx|ppk|ovpn)\b|/etc/(?:passwd|shadow)"
    r"|credential|secret|passw|token(?!i)|cookie",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:upload|deploy|publish|push|sync|synchroni[sz]e|back(?:ing)?[ -]?up|releas|mirror|ship"
    r"|transfer|scp|rsync|s?ftp|s3|gist|bucket)"
    r"(?:s|es|ed|ing|e)?\b|hochlad|\blad\w*\b.{0,80}\bhoch\b|veröffentlich|übertrag|sicher\w* auf"
    r"|téléverse|déploi|publie|\bsub[ei]|despl[ie]|public[ao]|\bcaric|pubblic|загруз|выгруз|разверн"
    r"|上传|部署|发布|备份|アップロード|デプロイ|公開|업로드|배포",
    re.IGNORECASE,
)
"""Words with which users ask for something to be sent to a host."""
_SENDS = re.compile(
    r"\b(?:send|mail|e-?mail|share|submit|copy|forward|move|post|put|give|paste)(?:s|ed|ing)?\b"
    r"|\bschick|\bsende|\bteil|kopier|\benvo[iy]|\benv[ií]|\bmanda|\binvia|отправ|发送|发给|送|보내",
    re.IGNORECASE,
)
"""Words that ask for it only where the user names the file, too."""
_WORD = re.compile(r"[^\W_]{3,}")
_HOST_SHOWN = 40


def sent_by(found: Iterable[Script], *, closely: bool = True) -> tuple[Upload, ...]:
    """The content of files that scripts send to other hosts.

    Args:
        found: The scripts.
        closely: Whether commands are read. If not, one that names a program which can send files
            counts as sending them: no one writes a command of that length.
    """
    sent: list[Upload] = []
    for text, is_code in found:
        if closely:
            sent += uploads(text)
        elif may_send(text):
            sent.append(Upload(host=UNKNOWN, command=""))
        if is_code:
            command = text if closely else ""
            sent += [Upload(host=host, command=command) for host in code_hosts(text)]
    return tuple(dict.fromkeys(sent))


def unasked(sent: Iterable[Upload], said: str) -> Upload | None:
    """What goes to a host that the user did not name and did not ask to send anything to.

    Args:
        sent: What a call sends.
        said: The user's words.
    """
    said = said.casefold()
    asked: dict[str, bool] = {}  # one command may send to thousands of hosts
    for one in sent:
        deadline.check()
        if one.command not in asked:
            asked[one.command] = _asks(said, one)
        if not asked[one.command] and not _names(said, one.host):
            return one
    return None


def reason_against(upload: Upload) -> str:
    """Why a call that sends this serves no task."""
    host = one_line(upload.host, _HOST_SHOWN)
    where = "another host" if upload.host == UNKNOWN else f"{host}, which you did not name"
    return f"No task of yours asks to send the content of files to {where}."


def _names(said: str, host: str) -> bool:
    """Whether the user named a host, its domain, or whose it is."""
    host = host.casefold().strip("[].")
    if host == UNKNOWN or not host:
        return False
    if re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", said):
        return True
    labels = host.split(".")
    if len(labels) < 2 or labels[-1].isdecimal():
        return False
    return ".".join(labels[-2:]) in said or (
        len(labels[-2]) > 3 and labels[-2] in _WORD.findall(said)
    )


def _asks(said: str, upload: Upload) -> bool:
    """Whether the user's words may ask for an upload of this."""
    names = {PurePosixPath(word.lstrip("@")) for word in re.split(r"[\s=<>;]+", upload.command)}
    named = any(path.name.casefold() in said for path in names if len(path.name) > 3)
    if _SECRET.search(upload.command):
        return named and (_ASKS.search(said) or _SENDS.search(said)) is not None
    if _ASKS.search(said):
        return True
    stems = {path.stem.casefold() for path in names if len(path.stem) > 2}
    return _SENDS.search(said) is not None and any(stem in said for stem in stems)
