"""Splits lines for a shell into simple commands.

Quotes, substitutions, pipes, redirections and here-documents are understood; nothing is expanded.
A word that holds the output of another command has a mark in its place. Time is in proportion to
the length, whatever the text.
"""

import re
from dataclasses import dataclass, field

from taskshield.core import deadline

READS = "\x00"
"""Stands in a word for the output of commands that read something."""
OTHER = "\x01"
"""Stands in a word for other output."""
_SILENT = frozenset(
    "arch basename date dirname dpkg echo expr false git hostname id lsb_release mktemp nproc"
    " printf pwd seq sleep true uname which yes".split()
)
"""Programs whose output holds nothing of a file."""
_VERSION = re.compile(r"version|release|nvmrc|\.tool", re.IGNORECASE)
_PIECE = re.compile(r"[^\s\\'\"`$()<>|&;#{}]+|[ \t\r\f\v]+|\n|.", re.DOTALL)
_IFS = re.compile(r"\$(?:\{IFS[^}]{0,20}\}|IFS\b)")
_DELIMITER = re.compile(r"-?[ \t]{0,20}(['\"\\]?)([\w.!-]{1,60})['\"]?")


@dataclass(slots=True)
class Command:
    """One program with its words, and where its input comes from."""

    words: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    """Files that its output goes to."""
    inputs: list[str] = field(default_factory=list)
    """Files that it reads instead of the keyboard."""
    body: str = ""
    """Its here-document or here-string."""
    is_fed: bool = False
    """Whether content of files flows into it from another command."""

    @property
    def has_input(self) -> bool:
        """Whether content of files flows into it."""
        return self.is_fed or bool(self.inputs) or READS in self.body

    @property
    def reads(self) -> bool:
        """Whether its output may hold the content of a file."""
        if self.has_input or any(READS in word for word in self.words):
            return True
        words = [word for word in self.words if "=" not in word or word.startswith("-")]
        if not words or words[0].rpartition("/")[2] in _SILENT:
            return False
        return len(words) < 2 or not all(map(_VERSION.search, words[1:]))


@dataclass(slots=True)
class _Frame:
    """A line, or a substitution in one."""

    closes: str
    command: Command = field(default_factory=Command)
    own: list[Command] = field(default_factory=list)
    word: list[str] | None = None
    quoted: bool = False
    target: str = ""
    """The redirection whose file is read next."""
    feeds: bool = False
    last_reads: bool = False
    """Whether the last command, or the group that ended with it, reads something."""


def split_line(text: str) -> list[Command]:
    """The simple commands of a line or a script, those in substitutions included."""
    return _Splitter(_IFS.sub(" ", text)).split()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = [_Frame(closes="")]
        self._found: list[Command] = []
        self._bodies: list[tuple[Command, str]] = []

    def split(self) -> list[Command]:
        """All commands, in the order in which they end."""
        at = 0
        while at < len(self._text):
            deadline.check()
            at = self._step(at)
        while len(self._frames) > 1:
            self._close()
        self._end_command()
        return self._found

    def _step(self, at: int) -> int:
        match = _PIECE.match(self._text, at)
        assert match is not None  # it matches any character
        piece, end = match[0], match.end()
        frame = self._frames[-1]
        if piece == "\\":
            if self._text[end : end + 1] != "\n":
                self._add(self._text[end : end + 1])
            return end + 1
        if piece == "`" and frame.closes == "`" and not frame.quoted:
            self._close()
        elif piece == "`":
            self._frames.append(_Frame(closes="`"))
        elif piece == "$" and self._text[end : end + 1] == "(":
            self._frames.append(_Frame(closes=")"))
            return end + 1
        elif piece == '"':
            frame.quoted = not frame.quoted
            self._add("")
        elif frame.quoted:
            self._add(piece)
        elif piece == "$" and self._text[end : end + 1] == "'":
            return end  # the quotation follows
        elif piece == "'":
            close = self._text.find("'", end)
            close = len(self._text) if close < 0 else close
            self._add(self._text[end:close])
            return close + 1
        else:
            return self._step_bare(piece, end)
        return end

    def _step_bare(self, piece: str, end: int) -> int:
        frame, following = self._frames[-1], self._text[end : end + 1]
        if piece == "\n":
            self._end_command()
            return self._read_bodies(end)
        if piece.isspace():
            self._end_word()
        elif piece in "<>":
            return self._redirect(piece, end)
        elif piece == "&" and following == ">":
            return end
        elif piece == "|":
            self._end_command()
            if following == "|":
                return end + 1
            frame.command.is_fed = frame.last_reads
            return end + (following == "&")
        elif piece in ";&":
            self._end_command()
        elif piece == "(":
            self._end_command()
            self._frames.append(_Frame(closes=")"))
        elif piece == ")" and frame.closes == ")":
            self._close()
        elif piece in "{}" and frame.word is None and not following.strip():
            self._end_command()  # a group
        elif piece == "#" and frame.word is None:
            close = self._text.find("\n", end)
            return len(self._text) if close < 0 else close
        else:
            self._add(piece)
        return end

    def _redirect(self, piece: str, end: int) -> int:
        frame = self._frames[-1]
        if frame.word is not None and "".join(frame.word).isdecimal():
            frame.word = None  # the number of a stream
        self._end_word()
        text = self._text
        if text.startswith("(", end):
            self._add(OTHER)
            self._frames.append(_Frame(closes=")", feeds=piece == ">"))
            return end + 1
        if text.startswith("<<", end) and piece == "<":
            frame.target = "<<<"
            return end + 2
        if text.startswith("<", end) and piece == "<":
            match = _DELIMITER.match(text, end + 1)
            if match is not None:
                self._bodies.append((frame.command, match[2]))
                return match.end()
        frame.target = piece
        while end < len(text) and text[end] in "<>|&":
            frame.target += text[end]
            end += 1
        return end

    def _read_bodies(self, at: int) -> int:
        """Read the here-documents that were announced in the line before."""
        for command, delimiter in self._bodies:
            lines: list[str] = []
            while at < len(self._text):
                close = self._text.find("\n", at)
                close = len(self._text) if close < 0 else close
                line, at = self._text[at:close], close + 1
                if line.strip() == delimiter:
                    break
                lines.append(line)
            command.body = "\n".join(lines)
        self._bodies = []
        return at

    def _add(self, piece: str) -> None:
        frame = self._frames[-1]
        if frame.word is None:
            frame.word = []
        frame.word.append(piece)

    def _end_word(self) -> None:
        frame = self._frames[-1]
        if frame.word is None:
            return
        word, frame.word = "".join(frame.word), None
        if frame.target == "<<<":
            frame.command.body = word
        elif frame.target.startswith("<"):
            frame.command.inputs.append(word)
            if ">" in frame.target:
                frame.command.outputs.append(word)
        elif frame.target:
            frame.command.outputs.append(word)
        elif word.startswith("{") and word.endswith("}") and "," in word:
            frame.command.words += word[1:-1].split(",")
        else:
            frame.command.words.append(word)
        frame.target = ""

    def _end_command(self) -> None:
        self._end_word()
        frame = self._frames[-1]
        ended, frame.command = frame.command, Command()
        frame.quoted = False
        if frame.feeds and not frame.own:
            ended.is_fed = True
        if ended.words or ended.outputs or ended.inputs:
            frame.own.append(ended)
            frame.last_reads = ended.reads
            self._found.append(ended)

    def _close(self) -> None:
        self._end_command()
        frame = self._frames.pop()
        reads = any(command.reads for command in frame.own)
        if frame.closes == "`" or frame.own:
            self._add(READS if reads else OTHER)
