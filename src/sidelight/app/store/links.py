"""Links of people: what the database keeps of one opens nothing without a secret that is kept elsewhere.

A link carries a token of two halves: a public one, which the database keeps, and a mark of it that only the secret can
make. Of tokens of 0.2.0, which the database kept as they were, it keeps a hash: old links go on opening, and the links
that are shown from now on are made as all others are.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sidelight.errors import CannotWrite, UnreadableFile

PUBLIC = 16  # characters of the public half
_SECRET = 32  # bytes


@dataclass(frozen=True, slots=True)
class Links:
    """Makes and knows tokens."""

    secret: bytes

    @classmethod
    def of(cls, known: bytes) -> Self:
        """Take a secret that follows from what only its owner knows."""
        return cls(hashlib.sha256(b"sidelight links" + known).digest())

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """Read the secret of a file that nobody else may read, and write it where there is none."""
        try:
            if not os.path.exists(path):
                _write_once(Path(path), secrets.token_bytes(_SECRET))
            secret = Path(path).read_bytes()
        except OSError as error:
            what = f"Cannot keep the secret of the links in {os.fspath(path)!r}: {error.strerror}."
            raise CannotWrite(what) from error
        if len(secret) < _SECRET:
            raise UnreadableFile(
                f"{os.fspath(path)!r} is not the secret of a studio's links. Delete it: people then need new links."
            )
        return cls(secret)

    def new(self) -> str:
        """Return what the database keeps of a new token."""
        return secrets.token_urlsafe(PUBLIC * 3 // 4)

    def token(self, kept: str) -> str:
        """Return the token of which the database keeps ``kept``."""
        public = kept[:PUBLIC]
        mark = hmac.digest(self.secret, public.encode(), "sha256")[:24]
        return public + urlsafe_b64encode(mark).decode()

    def opens(self, token: str, kept: str) -> bool:
        """Say whether a token is the one of which the database keeps ``kept``."""
        shown = token.encode("utf-8", "replace")
        is_old = len(kept) > PUBLIC and hmac.compare_digest(hashed(token).encode(), kept.encode())
        return is_old or hmac.compare_digest(shown, self.token(kept).encode())


def _write_once(path: Path, content: bytes) -> None:
    """Write a file that appears whole, unless another process was first."""
    own = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())
    with suppress(FileExistsError):
        os.link(own, path)
    own.unlink()


def hashed(token: str) -> str:
    """Return what the database keeps of a token of 0.2.0."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
