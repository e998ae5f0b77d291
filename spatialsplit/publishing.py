"""Put a finished folder in its place at once: the old dataset or the new one, never half of one.

A build writes into a hidden folder beside its target, which is exchanged with the target when, and only when, all is
written. A lock lets one build at a time work on a target; leftovers of a killed one are cleared by the next.
"""

from __future__ import annotations

import ctypes
import glob
import itertools
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from spatialsplit.errors import OutputError, first_few

RENAME_EXCHANGE = 2
AT_FDCWD = -100


@contextmanager
def new_folder(target: Path, *, force: bool = False, replaces: str = "manifest.json") -> Iterator[Path]:
    """Give an empty folder to write into; it takes the place of `target` when the block ends without an error.

    A target that is a symbolic link stays one: the folder it leads to is replaced.

    Parameters
    ----------
    target : path
    force : bool
        Replace a folder that is there already.
    replaces : str
        A file that such a folder must hold, so that no other folder is replaced by mistake.

    Raises
    ------
    OutputError
        The target exists and may not be replaced, cannot be written, or another build is at work on it.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "dataset"
    >>> with new_folder(target) as working:
    ...     _ = (working / "manifest.json").write_text("{}")
    ...     target.exists()
    False
    >>> [file.name for file in target.iterdir()]
    ['manifest.json']
    """
    target = Path(os.path.realpath(target))
    check_target(target, force=force, replaces=replaces)
    with _locked(target):
        working = target.parent / f".{target.name}.building"
        try:
            _clear_leftovers(target)
            working.mkdir()
            yield working
            check_target(target, force=force, replaces=replaces)
            _sync_folders(working)
            _exchange(working, target)
        except OSError as error:
            if isinstance(error, OutputError) or (error.filename is None and error.errno is None):
                raise
            place = f" ({Path(os.fsdecode(error.filename)).name})" if isinstance(error.filename, str | bytes) else ""
            raise OutputError(
                f"Writing failed: {error.strerror or error}{place}. {target.name} is as it was before. Make room, or "
                "choose another --out."
            ) from None
        finally:
            shutil.rmtree(working, ignore_errors=True)


@contextmanager
def new_files(*targets: Path | None) -> Iterator[list[Path]]:
    """Give paths to write to; they take the places of the targets when the block ends without an error.

    A target that is None has no path.

    Raises
    ------
    OutputError
        A target cannot be written, or two are the same file.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "out.csv"
    >>> with new_files(target, None) as (part,):
    ...     _ = part.write_text("a,b")
    >>> target.read_text()
    'a,b'
    """
    wanted = [target for target in targets if target is not None]
    _check_files(wanted)
    parts = [_part_of(target) for target in wanted]
    try:
        for target in wanted:
            target.parent.mkdir(parents=True, exist_ok=True)
            _clear_parts(target)
        yield parts
        for part, target in zip(parts, wanted, strict=True):
            part.replace(target)
    except OSError as error:
        if isinstance(error, OutputError) or error.errno is None:
            raise
        raise OutputError(
            f"Writing {first_few(target.name for target in wanted)} failed: {error.strerror}. Nothing was left "
            "half-written. Make room, or choose another output."
        ) from None
    finally:
        for part in parts:
            with suppress(OSError):
                part.unlink()


def check_writable(target: Path) -> None:
    """Refuse an output file that could not be written, before the work that goes into it.

    Raises
    ------
    OutputError
        It is a folder or a device, or its folder cannot be made or written to.
    """
    _check_files([target])
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise OutputError(
            f"Cannot write {target} ({error.strerror}). An output needs a folder that can be written. "
            "Choose another output."
        ) from None


_NUMBERS = itertools.count()
_HOST = re.sub(r"[^0-9A-Za-z]", "", platform.node())


def _part_of(target: Path) -> Path:
    """Name the file that is written first, so that nobody else who writes the same target writes it."""
    return target.with_name(f".{target.stem}.{_HOST}-{os.getpid()}-{next(_NUMBERS)}.part{target.suffix}")


def _clear_parts(target: Path) -> None:
    """Clear what processes of this machine left that wrote this target and were killed."""
    pattern = f".{glob.escape(target.stem)}.{_HOST}-*.part{glob.escape(target.suffix)}"
    for part in target.parent.glob(pattern):
        process = part.name.removeprefix(f".{target.stem}.{_HOST}-").partition("-")[0]
        if process.isdecimal() and not _is_alive(int(process)):
            with suppress(OSError):
                part.unlink()


def _is_alive(process: int) -> bool:
    """Tell whether there is such a process; where it cannot be asked, there may be."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _check_files(targets: Sequence[Path]) -> None:
    for target in targets:
        if target.is_dir():
            raise OutputError(f"{target} is a folder. An output is a file. Name one in it, or beside it.")
        if (target.exists() and not target.is_file()) or target.parent == Path("/dev"):
            raise OutputError(f"{target} is a device or a pipe. An output takes the place of a file. Name a file.")
    if len({os.path.realpath(target) for target in targets}) < len(targets):
        raise OutputError(
            f"Two outputs are one file, {first_few(targets)}. Each needs its own. Choose another name for one."
        )


def check_target(target: Path, *, force: bool, replaces: str) -> None:
    """Refuse a target that exists, unless it may be replaced.

    Raises
    ------
    OutputError
        It exists and `force` is off, or it is not what this package makes.
    """
    try:
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as error:
        raise OutputError(f"Cannot look into {target} ({error.strerror}). Choose another --out.") from None
    if not taken:
        return
    if not target.is_dir():
        raise OutputError(f"{target} is a file. An output is a folder. Choose another --out.")
    if not force:
        raise OutputError(
            f"{target} exists. It is never overwritten by itself. Choose another --out, or say --force to replace it."
        )
    if not (target / replaces).exists():
        raise OutputError(
            f"{target} holds no {replaces}, so it is not one of ours and --force does not replace it. Choose another "
            "--out."
        )


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Hold the lock of a target, a file beside it that goes when the work is done."""
    path = target.parent / f".{target.name}.lock"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = _open_lock(path, target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"Cannot write to {target.parent} ({error.strerror}). An output needs a folder that can be written. Choose "
            "another --out."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(lock)


def _open_lock(path: Path, target: Path) -> int:
    """Take the lock; where its file was removed by the holder meanwhile, take the new one."""
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR)
        try:
            _take(lock, target)
            if path.exists() and os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except OSError:
            os.close(lock)
            raise
        os.close(lock)


def _take(lock: int, target: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no flock: there, two builds into one folder are the user's to avoid
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise OutputError(
            f"Another build is writing {target}. One build at a time works on a folder. Wait for it, or choose another "
            "--out."
        ) from None


def _clear_leftovers(target: Path) -> None:
    """Clear what a killed build left; bring back an old dataset that was caught between two renames."""
    shutil.rmtree(target.parent / f".{target.name}.building", ignore_errors=True)
    aside = target.parent / f".{target.name}.old"
    if aside.exists() and not target.exists():
        aside.rename(target)
    shutil.rmtree(aside, ignore_errors=True)


def _exchange(new: Path, target: Path) -> None:
    """Put the new folder in place: in one step where the system can exchange two names, else in two."""
    if target.exists() and not any(target.iterdir()):
        target.rmdir()
    if not target.exists():
        new.rename(target)
    elif not _exchange_names(new, target):
        aside = target.parent / f".{target.name}.old"
        target.rename(aside)
        try:
            new.rename(target)
        except OSError:
            aside.rename(target)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    _sync(target.parent)


def _exchange_names(one: Path, other: Path) -> bool:
    """Exchange two names by Linux's renameat2; False where there is no such thing."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0)


def _sync_folders(folder: Path) -> None:
    for each in (*(path for path in folder.rglob("*") if path.is_dir()), folder):
        _sync(each)


def _sync(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system lets one."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
