"""Streams of bytes that hash, count or measure what passes through them."""

from __future__ import annotations

import atexit
import hashlib
import io
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

BLOCK_BYTES = 1 << 23

LONGEST_WAIT_S = 0.2
"""A thread that reads ahead asks again at once; one that is far enough ahead does not ask at all."""


class HashedInput(io.RawIOBase):
    """A file that hashes and counts the bytes as they are read; where nobody wants the hash, it only counts."""

    def __init__(self, path: Path, *, hashed: bool = True):
        self._file = path.open("rb")
        self._hash = hashlib.sha256()
        self._hashed = hashed
        self.n_bytes = 0

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read and hash some bytes."""
        block = self._file.read(-1 if size is None else size)
        if self._hashed:
            self._hash.update(block)
        self.n_bytes += len(block)
        return block

    def readinto(self, buffer: Any) -> int:
        """Read and hash as many bytes as the buffer holds."""
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def finish(self) -> str:
        """Read what a parser left unread and give the SHA-256 of the whole, or nothing where it is not wanted."""
        if not self._hashed:
            return ""
        while self.read(BLOCK_BYTES):
            pass
        return self._hash.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


@cache
def settle_before_exit() -> None:
    """Give the parser's threads a moment when Python ends: they may still free what they read, which needs Python.

    It is for tables that end in a fault: a program that says so is over sooner than those threads.
    """
    atexit.register(time.sleep, LONGEST_WAIT_S)


class CountedLines(io.RawIOBase):
    """A stream that counts its lines as they are read."""

    def __init__(self, stream: Any):
        self._stream = stream
        self._breaks = 0
        self._returns = 0
        self._pairs = 0
        self._last = b"\n"
        self._tail = b""
        self._stopped = False
        self._ended = threading.Event()

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def stop(self) -> None:
        """Give no more bytes, and wait for a thread that reads ahead: it must not run when Python itself ends."""
        self._stopped = True
        self._ended.wait(LONGEST_WAIT_S)

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes and count their line breaks."""
        block: bytes = b"" if self._stopped else self._stream.read(-1 if size is None else size)
        if not block:
            self._ended.set()
        self._breaks += block.count(b"\n")
        if b"\r" in block or self._last == b"\r":
            self._returns += block.count(b"\r")
            self._pairs += block.count(b"\r\n") + (self._last == b"\r" and block[:1] == b"\n")
        self._last = block[-1:] or self._last
        self._tail = (self._tail + block[-64:])[-64:]
        return block

    @property
    def n_lines(self) -> int | None:
        """The number of lines; None where some end with a lone carriage return, which parsers do not count alike."""
        return self._breaks + (self._last != b"\n") if self._returns == self._pairs else None

    @property
    def ends_quoted(self) -> bool:
        """Whether the last thing that was read, but for line breaks, is a quotation mark."""
        return self._tail.replace(b"\0", b"").rstrip(b"\r\n").endswith(b'"')


class Measured(io.BufferedIOBase):
    """A stream of which no more is read than it may hold.

    Parameters
    ----------
    stream : file-like
    most_bytes : int
    too_much : callable
        Gives the exception to raise where there is more.
    """

    def __init__(self, stream: Any, most_bytes: int, too_much: Callable[[], Exception]):
        self._stream = stream
        self._left = most_bytes
        self._too_much = too_much

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes."""
        return self._passed(self._stream.read(self._left + 1 if size is None or size < 0 else size))

    def read1(self, size: int = -1) -> bytes:
        """Read some bytes, with one question to the stream below."""
        return self._passed(self._stream.read1(BLOCK_BYTES if size < 0 else size))

    def _passed(self, block: bytes) -> bytes:
        self._left -= len(block)
        if self._left < 0:
            raise self._too_much()
        return block

    def close(self) -> None:
        """Close the stream below, too."""
        self._stream.close()
        super().close()
