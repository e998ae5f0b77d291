"""How the bytes of a text table are packed: plain, gz, bz2, or as a member of a zip archive.

Nothing is unpacked to disk, and no more than a block of it is in memory. An archive from a stranger is looked at before
it is read: names that leave its folder, links, and members that would swell beyond reason are refused. A gz or bz2 file
does not say how large it is, so it is stopped when it has swollen beyond the same reason.
"""

from __future__ import annotations

import bz2
import gzip
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables.streams import HashedInput, Measured

GZ = b"\x1f\x8b"
BZ2 = b"BZh"
ZIP = b"PK\x03\x04"

HIGHEST_RATIO = 400
"""How many times its packed size a table may have; deflate reaches 1,032, tables of records 3 to 40."""

SMALL_BYTES = 1 << 26
"""A table up to this size may have any ratio."""

LARGEST_BYTES = 1 << 41


@dataclass(frozen=True)
class Packing:
    """How one text table is packed.

    Attributes
    ----------
    kind : {'plain', 'gz', 'bz2', 'zip'}
    member : str
        The table's name inside an archive.
    """

    kind: str = "plain"
    member: str = ""

    def open(self, path: Path) -> Any:
        """Open the table's bytes for reading."""
        unpack = UNPACKERS.get(self.kind)
        if unpack is not None:
            return _within_reason(unpack(path), path)
        return self._member(path) if self.kind == "zip" else path.open("rb")

    def _member(self, path: Path) -> Any:
        return open_archive(path).open(self.member)

    def open_hashed(self, path: Path, *, hashed: bool) -> tuple[HashedInput, Any]:
        """Open the table's bytes, and the file as a whole for its hash."""
        raw = HashedInput(path, hashed=hashed)
        unpack = UNPACKERS.get(self.kind)
        if unpack is not None:
            return raw, _within_reason(unpack(raw), path)
        if self.kind == "zip":
            return raw, self._member(path)  # it jumps about in the file, so it has a handle of its own
        return raw, raw


UNPACKERS: dict[str, Callable[[Any], Any]] = {"gz": gzip.open, "bz2": bz2.BZ2File}
"""For each packing, what opens a path or a stream."""


def _within_reason(stream: Any, path: Path) -> Measured:
    """Unpack no more than the ratio allows; counted of the whole file, so that a part may be one long repetition."""
    packed = path.stat().st_size
    return Measured(stream, max(SMALL_BYTES, HIGHEST_RATIO * packed), lambda: _too_swollen(path.name, packed))


def _too_swollen(name: str, packed: int) -> DataError:
    return DataError(
        f"{name} has {packed:,} bytes and unpacks to more than {max(SMALL_BYTES, HIGHEST_RATIO * packed):,}. A packed "
        f"table has at most {HIGHEST_RATIO} times its size, as no table of records needs more. It is not read further. "
        "Unpack it with care, if you trust it, and name the table itself."
    )


def packing_of(path: Path) -> Packing:
    """Tell by its first bytes, or its name, how a text table is packed; an archive is looked into elsewhere."""
    with path.open("rb") as file:
        start = file.read(3)
    if start[:2] == GZ or path.suffix == ".gz":
        return Packing("gz")
    return Packing("bz2") if start == BZ2 or path.suffix == ".bz2" else Packing()


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open a zip archive.

    Raises
    ------
    DataError
        It is damaged, or holds what no archive of tables should.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise _damaged(path.name, error) from None
    wrong = _wrong_members(archive.infolist())
    if wrong:
        archive.close()
        raise DataError(
            f"{path.name} holds {len(wrong):,} members that no archive of tables needs (first: {first_few(wrong)}). "
            "It is not read. Unpack it with care, if you trust it, and name the table itself."
        )
    return archive


@contextmanager
def opened_member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    """Open a member for a look at it.

    Raises
    ------
    DataError
        It is damaged.
    """
    try:
        with archive.open(name) as member:
            yield member
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError) as error:
        raise _damaged(Path(archive.filename or "").name, error) from None


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(
        f"{name} begins like a zip archive but cannot be read as one ({shown(error)}). It may be truncated or damaged. "
        "Fetch or write it again."
    )


def _wrong_members(members: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Say what is wrong with members, judged by what the archive's directory says of them."""
    seen: set[str] = set()
    wrong = []
    for member in members:
        fault = _fault(member) or ("a second one of this name" if member.filename in seen else "")
        if fault:
            wrong.append(f"'{shown(member.filename)}': {fault}")
        seen.add(member.filename)
    return wrong


def _fault(member: zipfile.ZipInfo) -> str:
    name = member.filename.replace("\\", "/")
    if name.startswith("/") or name[1:2] == ":" or ".." in PurePosixPath(name).parts:
        return "a name outside the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a link"
    if member.flag_bits & 0x1:
        return "encrypted"
    if member.file_size > LARGEST_BYTES:
        return f"{member.file_size:,} bytes"
    if member.file_size > SMALL_BYTES and member.file_size > HIGHEST_RATIO * max(member.compress_size, 1):
        return f"{member.file_size:,} bytes packed into {member.compress_size:,}"
    return ""


def tables_in(archive: zipfile.ZipFile) -> list[str]:
    """Name the files of an archive, without folders and what operating systems leave behind."""
    names = [member.filename for member in archive.infolist() if not member.is_dir()]
    return [name for name in names if not name.startswith("__MACOSX/") and not PurePosixPath(name).name.startswith(".")]


def read_small(archive: zipfile.ZipFile, name: str, longest: int = 1 << 22) -> bytes:
    """Read a member that must be small.

    Raises
    ------
    DataError
        It is not.
    """
    with opened_member(archive, name) as file:
        content: bytes = file.read(longest + 1)
    if len(content) > longest:
        raise DataError(f"{name} in the archive is larger than {longest:,} bytes, which no description needs.")
    return content


__all__ = ["ZIP", "Packing", "open_archive", "opened_member", "packing_of", "read_small", "tables_in"]
