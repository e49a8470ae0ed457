"""Compiled code on disk, from one process to the next.

An entry is a file: MAGIC, the SHA-256 digest of all that follows, the entry's own name, the length of a text about it, that text,
and an object file. It is machine code that will be run, so it is only taken from a folder and a file that are the user's own and
that nobody else may write to, under the name it was written for, and with the digest it says. Whatever is not so is as good as not
there: it is logged, and compiled again.

A file is written beside its place and moved there at once, so no process sees half of one, and of two that write the same entry
either is right. Where it cannot be written nothing is lost but the next process's time.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

LOG = logging.getLogger("exprten")
LOG.addHandler(logging.NullHandler())  # the cache is to be silent where nobody listens

STARTED = time.time()  # about when sources were imported
MAGIC = b"exprten1"
DIGEST = 32  # bytes of SHA-256
_HEAD = len(MAGIC) + 2 * DIGEST + 4
ENTRY, PARTIAL = ".kernel", ".partial"
CAP = 256 << 20  # bytes of all entries; one has 2 to 20 KiB
FRESH = 3600.0  # seconds for which a file that was read need not be marked as read again
ABANDONED = 3600.0  # seconds after which a file that was never finished is somebody's who died
_BINARY: int = getattr(os, "O_BINARY", 0)  # of Windows
_OPENED: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for who writes to it
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Store:
    """Entries in a folder, `cap` bytes of them at most, those that were not used for longest given up first."""

    def __init__(self, folder: Path, cap: int = CAP) -> None:
        self.folder = folder
        self.cap = cap
        self.writes = True
        self._written: int | None = None  # bytes since entries were counted; None: never

    def read(self, name: str) -> tuple[str, bytes] | None:
        """The text and the object file of an entry; None where there is none that can be trusted."""
        path = self.folder / (name + ENTRY)
        try:
            data = _trusted(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            LOG.warning("cache: %s is not used: %s", path, error)
            return None
        found = _unpacked(name, data)
        if found is None:
            LOG.warning("cache: %s is damaged; it is compiled again", path)
            self.remove(name)
        return found

    def write(self, name: str, about: str, code: bytes) -> None:
        """Keep an entry, if that is possible."""
        if not self.writes:
            return
        path, data = self.folder / (name + ENTRY), _packed(name, about, code)
        if path.is_dir():
            LOG.warning("cache: %s is not written: it is a directory", path)
            return
        partial = self.folder / f"{name}.{os.urandom(8).hex()}{PARTIAL}"
        try:
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb") as file:
                file.write(data)
            partial.replace(path)
            self._count(len(data))
        except OSError as error:
            self.writes = False  # a full disk or a read-only one: asking again for every kernel would only cost time
            LOG.warning("cache: nothing more is written to %s by this process: %s", self.folder, error)
            _unlink(partial)

    def remove(self, name: str) -> None:
        """Forget an entry, if that is possible."""
        _unlink(self.folder / (name + ENTRY))

    def size(self) -> tuple[int, int]:
        """How many entries there are, and their bytes."""
        sizes = [found.st_size for _, found in self._files(ENTRY)]
        return len(sizes), sum(sizes)

    def clear(self) -> int:
        """Remove all entries, and nothing else that lies in the folder. Returns how many there were."""
        gone = [_unlink(path) for path, _ in self._files(ENTRY)]
        for path, _ in self._files(PARTIAL):
            _unlink(path)
        return sum(gone)

    def _count(self, written: int) -> None:
        """Look at all entries when the first is written, and again whenever a sixteenth of what may be there was added."""
        self._written = None if self._written is None else self._written + written
        if self._written is None or self._written >= self.cap // 16:
            self._written = 0
            self._evict()

    def _evict(self) -> None:
        now = time.time()
        for path, found in self._files(PARTIAL):
            if now - found.st_mtime > ABANDONED:
                _unlink(path)
        files = sorted(self._files(ENTRY), key=lambda file: file[1].st_mtime)
        left = sum(found.st_size for _, found in files)
        if left <= self.cap:
            return
        for path, found in files:
            if left <= self.cap * 3 // 4:  # room for a while
                break
            _unlink(path)
            left -= found.st_size

    def _files(self, suffix: str) -> Iterator[tuple[Path, os.stat_result]]:
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.endswith(suffix) and not entry.is_dir(follow_symlinks=False):
                        try:
                            yield Path(entry.path), entry.stat(follow_symlinks=False)
                        except FileNotFoundError:  # another process was faster
                            continue
        except FileNotFoundError:
            return


def _packed(name: str, about: str, code: bytes) -> bytes:
    text = about.encode()
    body = bytes.fromhex(name) + len(text).to_bytes(4, "little") + text + code
    return MAGIC + hashlib.sha256(body).digest() + body


def _unpacked(name: str, data: bytes) -> tuple[str, bytes] | None:
    """The text and the object file, where the digest is right and the entry is the one asked for."""
    at = len(MAGIC)
    digest, body = data[at : at + DIGEST], data[at + DIGEST :]
    if len(data) < _HEAD or data[:at] != MAGIC or hashlib.sha256(body).digest() != digest:
        return None
    if body[:DIGEST] != bytes.fromhex(name):
        return None
    first = DIGEST + 4
    last = first + int.from_bytes(body[DIGEST:first], "little")
    return body[first:last].decode(), body[last:]


def _trusted(path: Path) -> bytes:
    """The bytes of a file of the user's own. Raises OSError for another one, and for a link."""
    descriptor = os.open(path, os.O_RDONLY | _OPENED | _BINARY)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError("it is no file")
        if (why := foreign(found)) is not None:
            raise PermissionError(why)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read()
    finally:
        os.close(descriptor)
    if time.time() - found.st_mtime > FRESH:
        with contextlib.suppress(OSError):
            os.utime(path)  # what is used longest ago is given up first
    return data


def foreign(found: os.stat_result) -> str | None:
    """Why others may have written a file or a folder; None where they cannot have."""
    if os.name != "posix":  # no owner to ask for; a user's folder is the user's
        return None
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}, not to user {os.geteuid()}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o}); chmod go-w it"
    return None


def _unlink(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


# Which folder there is.


def folder() -> Path:
    """`EXPRTEN_CACHE_DIR`, or `exprten` in the folder that the system has for such things."""
    given = os.environ.get("EXPRTEN_CACHE_DIR")
    if given:
        return Path(given).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    if base and Path(base).is_absolute():
        return Path(base) / "exprten"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "exprten"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "exprten" / "Cache"
    return Path.home() / ".cache" / "exprten"


def cap() -> int:
    """`EXPRTEN_CACHE_SIZE` in bytes, or with K, M or G. Raises ValueError for a setting that is none."""
    given = os.environ.get("EXPRTEN_CACHE_SIZE", "")
    text = given.strip().upper()
    if not text:
        return CAP
    number, unit = (text, "") if text.isdecimal() else (text[:-1], text[-1])
    if not number.isdecimal() or unit not in _UNITS:
        raise ValueError(
            f"EXPRTEN_CACHE_SIZE is {given!r}; it must be a number of bytes, or one with K, M or G behind it"
        )
    return int(number) * _UNITS[unit]


@cache
def store() -> Store | None:
    """The store of this process; None where it is switched off (`EXPRTEN_CACHE=0`), or where its folder is not to be trusted."""
    if os.environ.get("EXPRTEN_CACHE", "1") in ("", "0"):
        return None
    limit, place = cap(), Path("~")
    try:
        place = folder()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        why = foreign(place.stat())
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        why = str(error)
    if why is not None:
        LOG.warning("cache: none in this process, %s: %s", place, why)
        return None
    return Store(place, limit)


@cache
def digest_of(package: Path) -> str:
    """A digest of the sources of a package; empty where there are none, or others than those that this process runs."""
    found = hashlib.sha256()
    paths = sorted(package.rglob("*.py"))
    for path in paths:
        facts = path.stat()
        if (
            max(facts.st_mtime, facts.st_ctime) > STARTED
        ):  # what the old ones compile would be found by the name of the new
            LOG.warning("cache: none in this process: %s has changed since it was imported", path)
            return ""
        data = path.read_bytes()
        found.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest() if paths else ""
