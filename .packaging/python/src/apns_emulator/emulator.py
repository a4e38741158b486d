"""Apple's push service as one object."""

from __future__ import annotations

import os
import pathlib
import ssl
import types
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Type

from .advice import Finding, list_findings
from .clock import Clock
from .console import Console
from .credentials import Certificate, Key
from .devices import Device
from .faults import Faults
from .process import LISTENERS, EmulatorError, EmulatorProcess, Setting, flags
from .pushes import Push, list_pushes, wait_for_pushes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .pushes import Filters


class Address(NamedTuple):
    """Where a listener is. As text it is ``host:port``."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Emulator:
    """An emulator on free ports of 127.0.0.1, with its files in a temporary folder that goes with it.

    >>> with Emulator(environment="production", token_seed="the same tokens on every machine") as emulator:
    ...     print(emulator.provider)
    127.0.0.1:49152

    Any flag of ``apns-emulator serve`` can be given, as words or as settings. As many as you like live side by side; those of
    one process have the same authority, and nothing else, in common. When this process ends, however it does, they end too.

    Args:
        arguments: Flags as on the command line, ``"--flood-limit", "3"``.
        binary: The program, if it is not that of this package.
        patience: Seconds after which a start counts as failed.
        settings: Flags by name, ``flood_limit=3``; ``True`` for one that has no value.
    """

    def __init__(
        self,
        *arguments: str,
        binary: Optional[os.PathLike[str]] = None,
        patience: float = 60.0,
        **settings: Setting,
    ) -> None:
        self._arguments: Sequence[str] = [*arguments, *flags(settings)]
        self._binary, self._patience = binary, patience
        self._running: Optional[EmulatorProcess] = None
        self._console: Optional[Console] = None
        self._environment = "sandbox"
        self.connected: List[Device] = []
        """Devices that are switched on."""

    def start(self) -> Emulator:
        """Starts it, and returns when every port is open. Raises ``EmulatorError`` with what it said if it can't."""
        if self._running is None:
            self._running = EmulatorProcess(self._arguments, self._binary, self._patience)
            console = self._running.ports.get("console")
            if console is None:
                self.stop()
                raise EmulatorError("the console is off, and nothing can be asked without it")
            self._console = Console(console["host"], console["port"], self._running.access, self._running.log_tail)
            self._environment = self._console.get("/api/v1/info")["environment"]
        return self

    def stop(self) -> None:
        """Ends it in order: returns when every port is closed and its folder is removed. Twice is the same as once."""
        for device in list(self.connected):
            device.disconnect()
        if self._running is not None:
            self._running.stop()
            self._running = self._console = None

    def __enter__(self) -> Emulator:
        return self.start()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[types.TracebackType]
    ) -> None:
        self.stop()

    # Where it is

    @property
    def gateway(self) -> Address:
        """The binary gateway of 2009: TLS 1.2, a push certificate required."""
        return self._address("gateway")

    @property
    def feedback(self) -> Address:
        """The feedback service of the binary protocol."""
        return self._address("feedback")

    @property
    def provider(self) -> Address:
        """The HTTP/2 API: TLS, ALPN ``h2``, a push certificate or a provider token."""
        return self._address("provider")

    @property
    def courier(self) -> Address:
        """Where devices connect."""
        return self._address("courier")

    @property
    def console(self) -> Address:
        """Plain HTTP/1.1: the dashboard, the API, and ``POST /3/device/{token}`` for clients without HTTP/2."""
        return self._address("console")

    @property
    def proxy(self) -> Address:
        """An HTTP proxy for clients that know only Apple's names."""
        return self._address("proxy")

    @property
    def ca(self) -> pathlib.Path:
        """The certificate, in PEM, of the authority that clients have to trust."""
        return pathlib.Path(self._process.ports["ca"])

    @property
    def certs(self) -> pathlib.Path:
        """Folder of certificates and keys."""
        return pathlib.Path(self._process.ports["certs"])

    @property
    def log(self) -> pathlib.Path:
        """What it logs, for a look while a test stands still."""
        return self._process.log

    @property
    def environment(self) -> str:
        """``sandbox`` or ``production``."""
        return self._environment

    @property
    def variables(self) -> Dict[str, str]:
        """What a command finds this emulator by, as ``apns-emulator exec --proxy`` sets it: addresses, whom to trust, a proxy
        for programs that know only Apple's names.

        >>> subprocess.run(["make", "integration-test"], env={**os.environ, **emulator.variables})
        """
        told = {
            f"APNS_EMULATOR_{name.upper()}": str(self._address(name)) for name in LISTENERS if name in self._process.ports
        }
        told["APNS_EMULATOR_PORTS_FILE"] = str(self._process.folder / "ports.json")
        told["APNS_EMULATOR_CERTS"] = str(self.certs)
        told["APNS_EMULATOR_CA"] = str(self.ca)
        # Our authority and the system's, where the certs folder could be written to.
        bundle = self.certs / "ca-bundle.pem"
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"):
            told[name] = str(bundle if bundle.exists() else self.ca)
        if self._process.access:
            told["APNS_EMULATOR_ACCESS"] = self._process.access
        if "proxy" in self._process.ports:
            user = f"access:{self._process.access}@" if self._process.access else ""
            told["HTTPS_PROXY"] = told["https_proxy"] = f"http://{user}{self.proxy}"
            told["NO_PROXY"] = told["no_proxy"] = "localhost,127.0.0.1,::1"
        return told

    def ssl_context(self, certificate: Optional[Certificate] = None) -> ssl.SSLContext:
        """For clients: trusts this emulator and nobody else, and shows the certificate if one is given."""
        context = ssl.create_default_context(cafile=str(self.ca))
        if certificate is not None:
            context.load_cert_chain(str(certificate.path), str(certificate.key_path))
        return context

    # Being a provider

    def issue_key(self, team: str = "TEAM123456", topics: Sequence[str] = ()) -> Key:
        """A new token key of a team, for these topics only if any are given."""
        order = {"team": team, **({"topics": list(topics)} if topics else {})}
        return Key.made(self.console_api.post("/api/v1/keys", order), self.certs)

    def issue_certificate(self, *topics: str, environment: str = "both") -> Certificate:
        """A new push certificate for these topics, and for those that belong to them (``.voip``, ``.complication``)."""
        order = {"topics": list(topics), "environment": environment}
        return Certificate.made(self.console_api.post("/api/v1/certificates", order), self.certs)

    # Being somebody with a phone

    def device(self, udid: str = "phone-1", *topics: str) -> Device:
        """A phone with these apps installed. Asked for again under the same name it is the same phone."""
        device = Device(self, udid)
        for topic in topics:
            device.install(topic)
        return device

    # Seeing what was pushed

    def notifications(self, **filters: Unpack[Filters]) -> List[Push]:
        """What providers have sent since the last reset, oldest first."""
        return list_pushes(self.console_api, filters)

    def wait_for_push(self, *, timeout: float = 5.0, **filters: Unpack[Filters]) -> Push:
        """Waits for a push that fits; one that came before counts too. Raises ``NoPush``, an ``AssertionError`` that says what
        came instead, if none does.

        >>> push = emulator.wait_for_push(udid="phone-1", state="delivered")
        """
        return wait_for_pushes(self.console_api, 1, timeout, filters)[0]

    def wait_for_pushes(self, count: int, *, timeout: float = 5.0, **filters: Unpack[Filters]) -> List[Push]:
        """The same for several, which are answered in the order in which they came."""
        return wait_for_pushes(self.console_api, count, timeout, filters)

    def send(self, token: str, topic: str, payload: Mapping[str, Any], **fields: Any) -> Push:
        """Sends a push as a provider with a certificate for the topic would, with the same checks and faults: for tests of
        what happens on devices. ``fields`` are those of ``POST /api/v1/push``: ``pushType``, ``priority``, ``collapseId`` …
        """
        body = {"token": token, "topic": topic, "payload": payload, **fields}
        return Push.told(self.console_api.post("/api/v1/push", body))

    def advice(self, severity: Optional[str] = None, *, id: Optional[str] = None) -> List[Finding]:
        """What providers have done against Apple's advice since the last reset, the worst first. ``severity="warning"`` is that or
        worse. Ask once the code under test has sent all that it will: what was lost and not sent again by then counts as lost.

        >>> assert emulator.advice("error") == []
        """
        return list_findings(self.console_api, severity, id)

    # Breaking it, moving time, beginning anew

    @property
    def faults(self) -> Faults:
        """What goes wrong on purpose."""
        return Faults(self.console_api)

    @property
    def clock(self) -> Clock:
        """What every expiry goes by."""
        return Clock(self.console_api)

    def reset(self, *what: str) -> None:
        """Forgets devices, tokens, pushes, feedback, channels and faults, and sets the clock right; keys and certificates stay.
        With names (``"notifications"``, ``"faults"``, …) only those."""
        for device in list(self.connected) if not what or "devices" in what else []:
            device.disconnect()
        self.console_api.post("/api/v1/reset", {"what": list(what)} if what else {})

    # For what has no method here

    @property
    def console_api(self) -> Console:
        """The console's API: ``emulator.console_api.get("/api/v1/connections")``."""
        if self._console is None:
            raise EmulatorError("the emulator is not running")
        return self._console

    def command(self, name: str) -> List[str]:
        """The beginning of a command line of the program that talks to this emulator."""
        return [self._process.binary, name, "--ports-file", str(self._process.folder / "ports.json")]

    @property
    def _process(self) -> EmulatorProcess:
        if self._running is None:
            raise EmulatorError("the emulator is not running")
        return self._running

    def _address(self, listener: str) -> Address:
        ports = self._process.ports
        if listener not in ports:
            raise EmulatorError(f"the {listener} is off")
        return Address(ports[listener]["host"], ports[listener]["port"])
