"""How the bytes of a text table are packed: plain, gz, bz2, or as a member of a zip archive.

Nothing is unpacked to disk, and no more than a block of it is in memory. An archive from a stranger is looked at before
it is read: names that leave its folder, links, and members that would swell beyond reason are refused.
"""

from __future__ import annotations

import bz2
import gzip
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from spatialsplit.errors import DataError, first_few, shown
from spatialsplit.tables.streams import HashedInput

GZ = b"\x1f\x8b"
BZ2 = b"BZh"
ZIP = b"PK\x03\x04"

HIGHEST_RATIO = 400
"""How many times its packed size a member may have; deflate reaches 1,032, tables of records 3 to 40."""

SMALL_BYTES = 1 << 26
"""A member up to this size may have any ratio."""

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
        openers: dict[str, Callable[[Path], Any]] = {"gz": gzip.GzipFile, "bz2": bz2.BZ2File, "zip": self._member}
        return openers[self.kind](path) if self.kind in openers else path.open("rb")

    def _member(self, path: Path) -> Any:
        return open_archive(path).open(self.member)

    def open_hashed(self, path: Path, *, hashed: bool) -> tuple[HashedInput, Any]:
        """Open the table's bytes, and the file as a whole for its hash."""
        raw = HashedInput(path, hashed=hashed)
        if self.kind == "gz":
            return raw, gzip.GzipFile(fileobj=raw)
        if self.kind == "bz2":
            return raw, bz2.BZ2File(raw)
        if self.kind == "zip":
            return raw, self._member(path)  # it jumps about in the file, so it has a handle of its own
        return raw, raw


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
        raise DataError(
            f"{path.name} begins like a zip archive but cannot be read as one ({shown(error)}). It may be truncated "
            "or damaged. Fetch or write it again."
        ) from None
    wrong = _wrong_members(archive.infolist())
    if wrong:
        archive.close()
        raise DataError(
            f"{path.name} holds {len(wrong):,} members that no archive of tables needs (first: {first_few(wrong)}). "
            "It is not read. Unpack it with care, if you trust it, and name the table itself."
        )
    return archive


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
    with archive.open(name) as file:
        content: bytes = file.read(longest + 1)
    if len(content) > longest:
        raise DataError(f"{name} in the archive is larger than {longest:,} bytes, which no description needs.")
    return content


__all__ = ["ZIP", "Packing", "open_archive", "packing_of", "read_small", "tables_in"]
