"""What providers prove who they are with: token keys and push certificates."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, Mapping, Tuple


@dataclasses.dataclass(frozen=True)
class Key:
    """A token key (``.p8``), for provider tokens."""

    key_id: str
    team_id: str
    topics: Tuple[str, ...]
    """The only ones that it is for; none: all of the team's."""
    p8: str = dataclasses.field(repr=False)
    """The content of ``path``: a P-256 key in PKCS#8 PEM."""
    path: pathlib.Path
    """``AuthKey_<KEY>.p8`` in the emulator's folder, gone when that ends."""

    @classmethod
    def made(cls, answer: Mapping[str, Any], certs: pathlib.Path) -> Key:
        path = certs / "keys" / f"AuthKey_{answer['keyId']}.p8"
        return cls(answer["keyId"], answer["team"], tuple(answer["topics"]), answer["p8"], path)


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A push certificate and its private key."""

    topics: Tuple[str, ...]
    certificate: str
    """In PEM, as in ``path``."""
    private_key: str = dataclasses.field(repr=False)
    """In PEM, as in ``key_path``."""
    path: pathlib.Path
    """The certificate alone. This file and those below are gone when the emulator ends."""
    key_path: pathlib.Path
    """Its private key."""
    p12_path: pathlib.Path
    """Both, in PKCS#12 with an empty password."""
    pem_path: pathlib.Path
    """Both, in one PEM file, as older programs want it."""

    @classmethod
    def made(cls, answer: Mapping[str, Any], certs: pathlib.Path) -> Certificate:
        topics = tuple(answer["topics"])
        base = certs / "push"
        path, key_path, p12_path = (base / f"{topics[0]}.{end}" for end in ("pem", "key", "p12"))
        pem_path = base / f"{topics[0]}-with-key.pem"
        certificate, private_key = answer["certificate"], answer["privateKey"]
        pem_path.touch(mode=0o600)
        pem_path.write_text(certificate + private_key)
        return cls(topics, certificate, private_key, path, key_path, p12_path, pem_path)
