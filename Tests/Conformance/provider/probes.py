"""What a provider can do right and wrong, and what Apple answers: data, taken from the specification sheet."""

import base64
import json
import time
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric import ec

from harness import TOPIC
from identity import DER, bearer, flipped
from lab import (
    ALONE, APP_KEY, ID, INCAPABLE, KEY, LIVE_ACTIVITY, NO_APP, OTHER_APP, OTHER_APP_KEY, OTHER_TEAM, OTHER_TEAMS_KEY,
    PRODUCTION_KEY, SANDBOX_KEY, SECOND_KEY, SINGLE, TEAM, UNIVERSAL, VOIP)
from magic import Rules, magic
from wire import NO_ERROR, PAYLOAD, PRODUCTION, SANDBOX, listed

# What an id looks like that the server made (D.4): upper case.
MADE = r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"
CHANNEL = r"[A-Za-z0-9+/]+={0,2}"
JSON = "application/json"


# Every reason that Apple documents or that was seen on the wire, by table of the sheet and status.
REASONS = {
    "D.5": {
        400: "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic DeviceTokenNotForTopic "
             "DuplicateHeaders IdleTimeout InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty "
             "TopicDisallowed",
        403: "BadCertificate BadCertificateEnvironment BadEnvironmentKeyIdInToken BadEnvironmentKeyInToken "
             "ExpiredProviderToken Forbidden InvalidProviderToken MissingProviderToken UnrelatedKeyIdInToken",
        404: "BadPath", 405: "MethodNotAllowed", 410: "ExpiredToken Unregistered", 413: "PayloadTooLarge",
        429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError",
        503: "ServiceUnavailable Shutdown"},
    "F.3": {
        400: "BadChannelId BadExpirationDate BadMessageId BadPriority BadRequestParams BadRequestPayload "
             "CannotCreateChannelConfig ChannelNotRegistered FeatureNotEnabled InvalidPushType MissingChannelId "
             "MissingChannelQueueSize MissingPushType PayloadEmpty TopicDisallowed",
        403: "BadCertificate BadCertificateEnvironment ExpiredProviderToken InvalidProviderToken MissingProviderToken "
             "TopicMismatch",
        404: "BadPath", 405: "MethodNotAllowed", 413: "PayloadTooLarge",
        429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError",
        503: "ServiceUnavailable Shutdown"},
}


@dataclass
class Expected:
    """A whole answer: status, every field as a pattern, the bytes of the body (or a pattern for them)."""

    status: int
    fields: dict
    body: bytes = b""
    word: str = ""

    def __str__(self):
        return f"{self.status} {self.word}".strip()


@dataclass
class GoAway:
    """The end of the connection instead of an answer."""

    code: int
    last: int
    debug: bytes

    @property
    def word(self):
        return json.loads(self.debug)["reason"]

    def __str__(self):
        return f"GOAWAY {self.debug.decode()}"


class NoHandshake:
    def __str__(self):
        return "no TLS session"


@dataclass
class Request:
    fields: list
    body: bytes = PAYLOAD


@dataclass
class Probe:
    section: str
    name: str
    expected: object
    request: object  # makes a Request, given the lab
    before: list = field(default_factory=list)  # requests on the same connection, answered first
    lab: str = "plain"  # which emulator
    connection: dict = field(default_factory=dict)
    prepare: object = None  # called with the lab before
    certificate: object = None
    meanwhile: object = None  # called with the lab once the connection stands

    @property
    def reason(self):
        """Which reason of which table this probe shows; None if it shows none."""
        word = getattr(self.expected, "word", "")
        is_of_channels = "listener" in self.connection or self.name.startswith("broadcast: ")
        return ("F.3" if is_of_channels else "D.5", word) if word else None

    @property
    def is_plain_push(self):
        """Whether the console's /3/device can be asked the same."""
        return not (self.before or self.certificate or self.connection or self.prepare or self.lab != "plain")


# Answers


def accepted(id=ID, unique=True):
    fields = {"apns-id": id} | ({
        "apns-unique-id": r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"} if unique else {})
    return Expected(200, fields)


def refused(status, reason, id=ID, name="apns-id", body=None):
    body = body or b'{"reason":"%s"}' % reason.encode()
    return Expected(status, {"content-type": JSON, name: id}, body, reason)


def channel_refused(status, reason, id=ID):
    return refused(status, reason, id, "apns-request-id")


# Requests


def push(token=None, body=PAYLOAD, **changes):
    return lambda lab: Request(lab.fields(token, **changes), body)


def with_token(make, **changes):
    """A push with another provider token."""
    return lambda lab: Request(lab.fields(authorization=make(lab), **changes))


def sized(count):
    """A payload of so many bytes."""
    return b'{"aps":{"alert":"%s"}}' % (b"x" * (count - len(b'{"aps":{"alert":""}}')))


def for_token(name, body=PAYLOAD, **changes):
    """A push to a token that the probe prepared."""
    return lambda lab: Request(lab.fields(lab.prepared[name], **changes), body)


# J.3, row by row

EXAMPLE = [
    Probe("J.3", "the example", accepted(), push()),
    Probe("J.3", "no authorization", refused(403, "MissingProviderToken"), push(authorization=None)),
    Probe("J.3", "method GET", refused(405, "MethodNotAllowed"), push(body=b"", **{":method": "GET"})),
    Probe("J.3", "path /3/devices/…", refused(404, "BadPath"),
        lambda lab: Request(lab.fields(**{":path": f"/3/devices/{lab.token}"}))),
    Probe("J.3", "path /3/device/", refused(400, "MissingDeviceToken"), push("")),
    Probe("J.3", "token zz", refused(400, "BadDeviceToken"), push("zz")),
    Probe("J.3", "token zz, bad authorization", refused(403, "InvalidProviderToken"),
        push("zz", authorization=bearer("a.b.c"))),
    Probe("J.3", "no topic", refused(400, "MissingTopic"), push(apns_topic=None)),
    Probe("J.3", "priority 7", refused(400, "BadPriority"), push(apns_priority="7")),
    Probe("J.3", "push type foo", refused(400, "InvalidPushType"), push(apns_push_type="foo")),
    Probe("J.3", "apns-id xyz", refused(400, "BadMessageId", MADE), push(apns_id="xyz")),
    Probe("J.3", "collapse id of 64 bytes", accepted(), push(apns_collapse_id="c" * 64)),
    Probe("J.3", "collapse id of 65 bytes", refused(400, "BadCollapseId"), push(apns_collapse_id="c" * 65)),
    Probe("J.3", "body of 0 bytes", refused(400, "PayloadEmpty"), push(body=b"")),
    Probe("J.3", "alert of 4096 bytes", accepted(), push(body=sized(4096))),
    Probe("J.3", "alert of 4097 bytes", refused(413, "PayloadTooLarge"), push(body=sized(4097))),
    Probe("J.3", "voip of 5120 bytes", accepted(),
        for_token("voip", sized(5120), apns_push_type="voip", apns_topic=VOIP)),
    Probe("J.3", "voip of 5121 bytes", refused(413, "PayloadTooLarge"),
        for_token("voip", sized(5121), apns_push_type="voip", apns_topic=VOIP)),
    Probe("J.3", "token whose app is gone", refused(410, "Unregistered",
        body=rb'\{"reason":"Unregistered","timestamp":1[0-9]{12}\}'), for_token("gone")),
]

# Twenty plain probes that public mocks get wrong

PLAIN = [
    Probe("D.2", "forged signature", refused(403, "InvalidProviderToken"),
        with_token(lambda lab: bearer(lab.key.token(key=ec.generate_private_key(ec.SECP256R1()))))),
    Probe("D.2", "priority 1", accepted(), push(apns_priority="1")),
    Probe("D.2", "priority 5", accepted(), push(apns_priority="5")),
    Probe("D.2", "priority twice", refused(400, "DuplicateHeaders"), push(apns_priority=["10", "10"])),
    Probe("D.2", "priority 010", refused(400, "BadPriority"), push(apns_priority="010")),
    Probe("D.2", "priority empty", refused(400, "BadPriority"), push(apns_priority="")),
    Probe("D.2", "no priority", accepted(), push(apns_priority=None)),
    Probe("D.2", "apns-id nope", refused(400, "BadMessageId", MADE), push(apns_id="nope")),
    Probe("D.2", "apns-id empty", refused(400, "BadMessageId", MADE), push(apns_id="")),
    Probe("D.2", "apns-id without hyphens", refused(400, "BadMessageId", MADE), push(apns_id=ID.replace("-", ""))),
    Probe("D.2", "apns-id in upper case", accepted("ABCDEFAB-2222-4333-8444-55555555AAAA"),
        push(apns_id="ABCDEFAB-2222-4333-8444-55555555AAAA")),
    Probe("D.2", "no apns-id", accepted(MADE), push(apns_id=None)),
    Probe("D.2", "no apns-id, refused", refused(400, "BadPriority", MADE), push(apns_id=None, apns_priority="2")),
    Probe("D.2", "expiration soon", refused(400, "BadExpirationDate"), push(apns_expiration="soon")),
    Probe("D.2", "expiration -1", refused(400, "BadExpirationDate"), push(apns_expiration="-1")),
    Probe("D.2", "expiration 1.5", refused(400, "BadExpirationDate"), push(apns_expiration="1.5")),
    Probe("D.2", "expiration of 30 digits", refused(400, "BadExpirationDate"), push(apns_expiration="9" * 30)),
    Probe("D.2", "expiration in the past", accepted(), push(apns_expiration="1700000000")),
    Probe("D.2", "expiration in 2106", accepted(), push(apns_expiration="4294967296")),
    Probe("D.2", "no expiration", accepted(), push(apns_expiration=None)),
    Probe("D.2", "collapse id of 33 two-byte letters", refused(400, "BadCollapseId"),
        push(apns_collapse_id="é".encode() * 33)),
    Probe("D.2", "no push type", accepted(), push(apns_push_type=None)),
    Probe("D.2", "push type Alert", refused(400, "InvalidPushType"), push(apns_push_type="Alert")),
    Probe("D.2", "push type empty", refused(400, "InvalidPushType"), push(apns_push_type="")),
    Probe("D.2", "topic empty", refused(400, "MissingTopic"), push(apns_topic="")),
    Probe("D.2", "topic with a blank", refused(400, "BadTopic"), push(apns_topic="com.example app")),
    Probe("D.2", "topic of 256 bytes", refused(400, "BadTopic"), push(apns_topic="a" * 256)),
    Probe("D.2", "topic of an unknown app", refused(400, "DeviceTokenNotForTopic"), push(apns_topic=NO_APP)),
    Probe("D.2", "token in upper case", accepted(), lambda lab: Request(lab.fields(lab.token.upper()))),
    Probe("D.2", "token made up", refused(400, "BadDeviceToken"), push("ab" * 32)),
    Probe("D.2", "token of 31 bytes", refused(400, "BadDeviceToken"), lambda lab: Request(lab.fields(lab.token[:62]))),
    Probe("D.2", "token of 63 digits", refused(400, "BadDeviceToken"), lambda lab: Request(lab.fields(lab.token[:63]))),
    Probe("D.2", "token of 100 bytes", refused(400, "BadDeviceToken"), push("ab" * 100)),
    Probe("D.2", "token of 4,000 digits", refused(400, "BadDeviceToken"), push("a" * 4000)),
    Probe("D.2", "token and a query", refused(400, "BadDeviceToken"),
        lambda lab: Request(lab.fields(lab.token + "?a=b"))),
    Probe("D.2", "scheme Bearer", accepted(), with_token(lambda lab: f"Bearer {lab.jwt}")),
    Probe("D.2", "scheme BEARER", accepted(), with_token(lambda lab: f"BEARER {lab.jwt}")),
    Probe("D.2", "scheme basic", refused(403, "MissingProviderToken"), push(authorization="basic YTpi")),
    Probe("D.2", "bearer and nothing", refused(403, "MissingProviderToken"), push(authorization="bearer ")),
    Probe("D.2", "content type of a form", accepted(), push(content_type="application/x-www-form-urlencoded")),
    Probe("D.2", "content type twice", accepted(), push(content_type=["a/b", "a/b"])),
    Probe("D.2", "user agent, accept, x-other", accepted(), push(user_agent="probe", accept="*/*", x_other="1")),
    Probe("D.2", "no JSON", accepted(), push(body=b"no JSON")),
    Probe("D.2", "no aps", accepted(), push(body=b"{}")),
    Probe("D.2", "body of 30,000 bytes", refused(413, "PayloadTooLarge"), push(body=b"x" * 30_000)),
]

# The path and the method

PATHS = [
    Probe("D.6", f"path {path}", refused(404, "BadPath"), push(**{":path": path}))
    for path in ["/", "/3", "/3/device", "/2/device/abc", "/3/Device/abc", "/3/device/ab/cd", "//3/device/abc"]
] + [
    Probe("D.6", f"method {method}", refused(405, "MethodNotAllowed"), push(**{":method": method}))
    for method in ["PUT", "DELETE", "PATCH", "post", "OPTIONS"]
] + [Probe("D.6", "method HEAD", Expected(405, {"content-type": JSON, "apns-id": ID}),
    push(body=b"", **{":method": "HEAD"}))]

REPEATED = [
    Probe("D.6", f"{name} twice", refused(400, "DuplicateHeaders", id), push(**{name: [value, value]}))
    for name, value, id in [
        ("apns-topic", TOPIC, ID), ("apns-push-type", "alert", ID), ("apns-expiration", "0", ID),
        ("apns-collapse-id", "a", ID), ("apns-id", ID, ID), ("apns-something", "x", ID)]
] + [Probe("D.6", "authorization twice", refused(400, "DuplicateHeaders"),
    lambda lab: Request(lab.fields(authorization=[bearer(lab.jwt)] * 2)))]

# What is answered when two things are wrong: the first of D.6

ORDER = [
    Probe("D.6", f"{first} before {second}", expected, request)
    for first, second, expected, request in [
        ("method", "path", refused(405, "MethodNotAllowed"), push(**{":method": "PUT", ":path": "/x"})),
        ("path", "repeated fields", refused(404, "BadPath"), push(apns_priority=["1", "1"], **{":path": "/x"})),
        ("repeated fields", "apns-id", refused(400, "DuplicateHeaders", MADE),
            push(apns_priority=["1", "1"], apns_id="x")),
        ("apns-id", "authorization", refused(400, "BadMessageId", MADE), push(apns_id="x", authorization=None)),
        ("authorization", "push type", refused(403, "MissingProviderToken"),
            push(authorization=None, apns_push_type="x")),
        ("authorization", "device token", refused(403, "InvalidProviderToken"), push("zz", authorization="bearer x")),
        ("authorization", "payload", refused(403, "MissingProviderToken"), push(authorization=None, body=b"")),
        ("push type", "priority", refused(400, "InvalidPushType"), push(apns_push_type="x", apns_priority="x")),
        ("priority", "expiration", refused(400, "BadPriority"), push(apns_priority="x", apns_expiration="x")),
        ("expiration", "collapse id", refused(400, "BadExpirationDate"),
            push(apns_expiration="x", apns_collapse_id="c" * 65)),
        ("collapse id", "topic", refused(400, "BadCollapseId"), push(apns_collapse_id="c" * 65, apns_topic=None)),
        ("topic", "device token", refused(400, "MissingTopic"), push("", apns_topic=None)),
        ("device token", "payload", refused(400, "BadDeviceToken"), push("zz", body=b"")),
        ("gone", "payload", refused(410, "Unregistered", body=rb'\{"reason":"Unregistered","timestamp":1[0-9]{12}\}'),
            for_token("gone", b"")),
        ("gone", "other app",
            refused(410, "Unregistered", body=rb'\{"reason":"Unregistered","timestamp":1[0-9]{12}\}'),
            for_token("gone", apns_topic=OTHER_APP)),
        ("other app", "payload", refused(400, "DeviceTokenNotForTopic"), push(apns_topic=OTHER_APP, body=b"")),
    ]
]

# Push types, each with the topic it wants (D.3)


def typed(push_type, suffix, priority="10"):
    return for_token(suffix, apns_push_type=push_type, apns_topic=TOPIC + suffix, apns_priority=priority)


SUFFIXES = {
    "location": ".location-query", "voip": ".voip", "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
    "widgets": ".push-type.widgets", "controls": ".push-type.controls"}

TYPES = [
    Probe("D.3", f"push type {name}", accepted(), typed(name, suffix)) for name, suffix in SUFFIXES.items()
] + [
    Probe("D.3", "push type mdm", accepted(), push(apns_push_type="mdm", apns_priority=None)),
    Probe("D.3", "background, priority 5", accepted(), push(apns_push_type="background", apns_priority="5")),
    Probe("D.3", "background, no priority", accepted(), push(apns_push_type="background", apns_priority=None)),
    Probe("K.20", "background, priority 10", refused(400, "BadPriority"), push(apns_push_type="background")),
    Probe("D.2", "liveactivity of 4097 bytes", refused(413, "PayloadTooLarge"), for_token(
        SUFFIXES["liveactivity"], sized(4097), apns_push_type="liveactivity", apns_topic=LIVE_ACTIVITY)),
    Probe("D.5", "voip token for the app itself", refused(400, "DeviceTokenNotForTopic"), for_token("voip")),
]

# Provider tokens (E)


def jwt(name, expected, section="E", before=(), **token):
    return Probe(section, name, expected, with_token(lambda lab: bearer(lab.key.token(**token))), list(before))


def other_key(name):
    return with_token(lambda lab: bearer(lab.keys[name].token()))


INVALID = refused(403, "InvalidProviderToken")
TOKENS = [
    jwt("signature raw", accepted()),
    jwt("signature in DER", accepted(), form=DER),
    jwt("padded", accepted(), padded=True),
    jwt("standard alphabet, padded", accepted(), padded=True, standard=True),
    jwt("DER, standard alphabet, padded", accepted(), form=DER, padded=True, standard=True),
    jwt("typ JWT", accepted(), header={"typ": "JWT"}),
    Probe("E", "iat a float", accepted(), with_token(lambda lab: bearer(lab.key.token(claims={"iat": time.time()})))),
    Probe("client-quirks", "iat a string of digits", accepted(),
        with_token(lambda lab: bearer(lab.key.token(claims={"iat": str(int(time.time()))})))),
    jwt("iat an old string of digits", refused(403, "ExpiredProviderToken"), claims={"iat": "1700000000"}),
    jwt("iat a word", INVALID, claims={"iat": "now"}),
    jwt("iat missing", INVALID, claims={"iat": None}),
    jwt("59 minutes old", accepted(), age=3540),
    jwt("61 minutes old", refused(403, "ExpiredProviderToken"), age=3660),
    jwt("of 1970", refused(403, "ExpiredProviderToken"), claims={"iat": 0}),
    jwt("59 minutes ahead", accepted(), "K.5", age=-3540),
    jwt("61 minutes ahead", INVALID, "K.5", age=-3660),
    jwt("alg none", INVALID, header={"alg": "none"}),
    jwt("alg HS256", INVALID, header={"alg": "HS256"}),
    Probe("E", "alg ES384, curve P-384", INVALID, with_token(lambda lab: bearer(
        lab.key.token(header={"alg": "ES384"}, key=ec.generate_private_key(ec.SECP384R1()))))),
    Probe("E", "alg ES256, curve P-384", INVALID,
        with_token(lambda lab: bearer(lab.key.token(key=ec.generate_private_key(ec.SECP384R1()))))),
    jwt("alg missing", INVALID, header={"alg": None}),
    jwt("alg in small letters", INVALID, header={"alg": "es256"}),
    jwt("kid missing", INVALID, header={"kid": None}),
    jwt("kid a number", INVALID, header={"kid": 7}),
    jwt("kid unknown", INVALID, header={"kid": "NOBODYKNOW"}),
    jwt("kid a path", INVALID, header={"kid": "../../etc/x"}),
    jwt("iss missing", INVALID, claims={"iss": None}),
    jwt("iss of another team", INVALID, claims={"iss": OTHER_TEAM}),
    jwt("kid and iss swapped", INVALID, header={"kid": TEAM}, claims={"iss": KEY}),
    Probe("E", "kid of another key", INVALID,
        with_token(lambda lab: bearer(lab.key.token(header={"kid": SECOND_KEY})))),
    Probe("E", "one bit of the header changed", INVALID, with_token(lambda lab: bearer(flipped(lab.key.token(), 0)))),
    Probe("E", "one bit of the claims changed", INVALID, with_token(lambda lab: bearer(flipped(lab.key.token(), 1)))),
    Probe("E", "one bit of the signature changed", INVALID,
        with_token(lambda lab: bearer(flipped(lab.key.token(), 2)))),
    Probe("E", "signature cut", INVALID, with_token(lambda lab: bearer(lab.key.token()[:-4]))),
    Probe("E", "signature missing", INVALID, with_token(lambda lab: bearer(lab.key.token().rpartition(".")[0] + "."))),
    Probe("E", "two parts", INVALID, with_token(lambda lab: bearer(lab.key.token().rpartition(".")[0]))),
    Probe("E", "four parts", INVALID, with_token(lambda lab: bearer(lab.key.token() + ".x"))),
    Probe("E", "words", INVALID, push(authorization="bearer a provider token")),
    Probe("E", "7,000 bytes", INVALID, push(authorization="bearer " + "a" * 7000)),
    Probe("E", "a second key of the team", accepted(), other_key(SECOND_KEY)),
    Probe("E", "key for the sandbox", accepted(), other_key(SANDBOX_KEY)),
    Probe("K.1", "key for production, in the sandbox", refused(403, "BadEnvironmentKeyInToken"),
        other_key(PRODUCTION_KEY)),
    Probe("E", "key for the topic", accepted(), other_key(APP_KEY)),
    Probe("K.25", "key for another topic", refused(400, "TopicDisallowed"), other_key(OTHER_APP_KEY)),
    Probe("D.6", "topic of the key before device token", refused(400, "TopicDisallowed"),
        with_token(lambda lab: bearer(lab.keys[OTHER_APP_KEY].token()), **{":path": "/3/device/zz"})),
    Probe("E", "a second token at once", accepted(), with_token(lambda lab: bearer(lab.key.token(age=1))), [push()]),
    Probe("E", "a third token at once", refused(429, "TooManyProviderTokenUpdates"),
        with_token(lambda lab: bearer(lab.key.token(age=2))),
        [push(), with_token(lambda lab: bearer(lab.key.token(age=1)))]),
    Probe("E", "the first token again after the third", refused(429, "TooManyProviderTokenUpdates"), push(),
        [push(), *(with_token(lambda lab, age=age: bearer(lab.key.token(age=age))) for age in (1, 2))]),
    Probe("K.4", "a token of another team", INVALID, other_key(OTHER_TEAMS_KEY), [push()]),
    Probe("E", "an unrelated topic's key", refused(403, "UnrelatedKeyIdInToken"), other_key(OTHER_APP_KEY),
        [other_key(APP_KEY)]),
    Probe("E", "a team's key after a topic's", refused(403, "UnrelatedKeyIdInToken"), other_key(KEY),
        [other_key(APP_KEY)]),
    Probe("E", "an expired token before a good one", accepted(), push(),
        [with_token(lambda lab: bearer(lab.key.token(age=7200)))]),
]

# Certificates (C)


def shows(name):
    return lambda lab: lab.emulator.push_certificate(name)


def by_certificate(name, certificate, expected, section="C.3", token=None, **request):
    request = {"apns_topic": None, "authorization": None} | request
    make = for_token(token, **request) if token else push(**request)
    return Probe(section, name, expected, make, certificate=certificate)


def environment_goaway():
    return GoAway(NO_ERROR, 0, b'{"reason":"BadCertificateEnvironment"}')


# A certificate with a topic in its subject only, as those before 2015.
def names_only(topic):
    return lambda lab: lab.authority.issue(f"Apple Push Services: {topic}", topic)


CERTIFICATES = [
    by_certificate("one topic, none named", names_only(TOPIC), accepted()),
    by_certificate("one topic, named", names_only(TOPIC), accepted(), apns_topic=TOPIC),
    by_certificate("for the sandbox, none named", shows("com.example.sandbox"), accepted(),
        token="com.example.sandbox"),
    by_certificate("authorization beside it is ignored", names_only(TOPIC), accepted(), "D.2",
        authorization="bearer nonsense"),
    by_certificate("issued for one topic alone, none named", shows(ALONE), accepted(), token=ALONE),
    by_certificate("a topic it does not list", names_only(TOPIC), refused(400, "TopicDisallowed"),
        apns_topic=OTHER_APP),
    by_certificate("another app's token", names_only(SINGLE), refused(400, "DeviceTokenNotForTopic"), "D.5"),
    by_certificate("universal, none named", shows(UNIVERSAL), refused(400, "MissingTopic")),
    by_certificate("universal, the app named", shows(TOPIC), accepted(), apns_topic=TOPIC),
    by_certificate("universal, voip", shows(UNIVERSAL), accepted(), token="universal voip",
        apns_topic=UNIVERSAL + ".voip", apns_push_type="voip"),
    by_certificate("voip not listed", names_only(TOPIC), refused(400, "TopicDisallowed"), token="voip", apns_topic=VOIP,
        apns_push_type="voip"),
    by_certificate("live activity", shows(TOPIC), refused(400, "TopicDisallowed"), "D.3", apns_topic=LIVE_ACTIVITY,
        apns_push_type="liveactivity"),
    by_certificate("location", shows(TOPIC), refused(400, "TopicDisallowed"), "D.3",
        apns_topic=TOPIC + ".location-query", apns_push_type="location"),
    by_certificate("for production, in the sandbox", shows("com.example.production"), environment_goaway(), "C.4"),
    by_certificate("that names no topic", lambda lab: lab.authority.issue("Apple Push Services"),
        refused(403, "BadCertificate"), "D.5"),
    by_certificate("expired", lambda lab: lab.authority.issue("Apple Push Services: old", TOPIC, (-30, -1)),
        NoHandshake(), "A.5"),
    by_certificate("not valid yet", lambda lab: lab.authority.issue("Apple Push Services: new", TOPIC, (1, 30)),
        NoHandshake(), "A.5"),
    by_certificate("of another authority", lambda lab: lab.stranger.issue("Apple Push Services: strange", TOPIC),
        NoHandshake(), "A.5"),
    Probe("C.4", "for the sandbox, in production", environment_goaway(), push(authorization=None, apns_topic=None),
        certificate=shows("com.example.sandbox"), connection={"name": PRODUCTION}),
]

# Environments

ENVIRONMENTS = [
    Probe("D.4", "production says no apns-unique-id", accepted(unique=False), for_token("production"),
        connection={"name": PRODUCTION}),
    Probe("D.6", "sandbox token in production", refused(400, "BadDeviceToken"), push(),
        connection={"name": PRODUCTION}),
    Probe("D.6", "production token in the sandbox", refused(400, "BadDeviceToken"), for_token("production"),
        connection={"name": SANDBOX}),
    Probe("K.1", "key for the sandbox, in production", refused(403, "BadEnvironmentKeyInToken"), other_key(SANDBOX_KEY),
        connection={"name": PRODUCTION}),
    Probe("D.1", "the old name of the sandbox", accepted(), push(),
        connection={"name": "api.development.push.apple.com"}),
    Probe("client-quirks", "no ALPN", accepted(), push(), connection={"alpn": None}),
]

# Limits that are off unless asked for

SWITCHES = [
    Probe("K.13", "too many to one device", refused(429, "TooManyRequests"), push(), [push()], lab="flood"),
    Probe("K.11", "idle for too long", GoAway(NO_ERROR, 0, b'{"reason":"IdleTimeout"}'), None, lab="idle"),
    Probe("K.20", "background, priority 10, allowed", accepted(), push(apns_push_type="background"), lab="switched"),
    Probe("J.3", "topic of VoIP, push type alert, minded", refused(400, "InvalidPushType"), push(apns_topic=VOIP),
        lab="switched"),
    Probe("J.3", "topic of the app, push type voip, minded", refused(400, "InvalidPushType"),
        push(apns_push_type="voip"), lab="switched"),
    Probe("K.1", "key for production, as documented", refused(403, "BadEnvironmentKeyIdInToken"),
        other_key(PRODUCTION_KEY), lab="documented"),
    Probe("D.5", "token older than the operator allows",
        refused(410, "ExpiredToken", body=rb'\{"reason":"ExpiredToken","timestamp":1[0-9]{12}\}'), push(),
        lab="short-lived", prepare=lambda lab: lab.advance("31m")),
    Probe("D.5", "the server goes", GoAway(NO_ERROR, 0, b'{"reason":"Shutdown"}'), None, lab="going",
        meanwhile=lambda lab: lab.emulator.terminate()),
]

# Channel management (F.1)

BUNDLE = TOPIC


def channel_request(method, body=b"", path=f"/1/apps/{BUNDLE}/channels", channel=None, **changes):
    def make(lab):
        fields = {
            ":method": method, ":scheme": "https", ":path": path, ":authority": "api-manage-broadcast.push.apple.com",
            "authorization": bearer(lab.jwt), "apns-request-id": ID,
            "apns-channel-id": lab.prepared.get(channel, channel)}
        return Request(listed(fields | {name.replace("_", "-"): value for name, value in changes.items()}), body)
    return make


def configuration(policy=1, push_type="LiveActivity"):
    return json.dumps({"message-storage-policy": policy, "push-type": push_type}).encode()


def channel_probe(name, expected, request, section="F.1", **options):
    return Probe(section, name, expected, request, connection={"listener": "gateway"}, **options)


CREATED = Expected(201, {"apns-request-id": ID, "apns-channel-id": CHANNEL})
NO_CHANNEL = base64.b64encode(b"no such channel!").decode()


def described(text):
    return Expected(200, {"content-type": JSON, "apns-request-id": ID}, text)


CHANNELS = [
    channel_probe("create, stored", CREATED, channel_request("POST", configuration(1))),
    channel_probe("create, not stored", CREATED, channel_request("POST", configuration(0))),
    channel_probe("create, no request id", Expected(201, {"apns-request-id": MADE, "apns-channel-id": CHANNEL}),
        channel_request("POST", configuration(), apns_request_id=None)),
    channel_probe("read, stored", described(rb'\{"message-storage-policy":1,"push-type":"LiveActivity"\}'),
        channel_request("GET", channel="stored")),
    channel_probe("read, not stored", described(rb'\{"message-storage-policy":0,"push-type":"LiveActivity"\}'),
        channel_request("GET", channel="unstored")),
    channel_probe("list", described(rb'\{"channels":\["[A-Za-z0-9+/]+={0,2}"(,"[A-Za-z0-9+/]+={0,2}")*\]\}'),
        channel_request("GET", path=f"/1/apps/{BUNDLE}/all-channels")),
    channel_probe("list, none", described(rb'\{"channels":\[\]\}'),
        channel_request("GET", path=f"/1/apps/{NO_APP}/all-channels")),
    channel_probe("delete", Expected(204, {"apns-request-id": ID}), channel_request("DELETE", channel="deletable")),
    channel_probe("read, deleted", channel_refused(400, "ChannelNotRegistered"),
        channel_request("GET", channel="deleted")),
    channel_probe("read, never made", channel_refused(400, "ChannelNotRegistered"),
        channel_request("GET", channel=NO_CHANNEL), "F.3"),
    channel_probe("read, of another app", channel_refused(400, "ChannelNotRegistered"),
        channel_request("GET", path=f"/1/apps/{OTHER_APP}/channels", channel="stored"), "F.3"),
    channel_probe("read, no channel id", channel_refused(400, "MissingChannelId"), channel_request("GET"), "F.3"),
    channel_probe("delete, no channel id", channel_refused(400, "MissingChannelId"), channel_request("DELETE"), "F.3"),
    channel_probe("read, channel id not base64", channel_refused(400, "BadChannelId"),
        channel_request("GET", channel="not base64!"), "F.3"),
    channel_probe("request id nope", channel_refused(400, "BadMessageId", MADE),
        channel_request("POST", configuration(), apns_request_id="nope"), "F.3"),
    channel_probe("create, no body", channel_refused(400, "PayloadEmpty"), channel_request("POST"), "F.3"),
    channel_probe("create, no JSON", channel_refused(400, "BadRequestPayload"), channel_request("POST", b"no JSON"),
        "F.3"),
    channel_probe("create, a list", channel_refused(400, "BadRequestPayload"), channel_request("POST", b"[]"), "F.3"),
    channel_probe("create, policy 2", channel_refused(400, "MissingChannelQueueSize"),
        channel_request("POST", configuration(2)), "F.3"),
    channel_probe("create, no policy", channel_refused(400, "MissingChannelQueueSize"),
        channel_request("POST", b'{"push-type":"LiveActivity"}'), "F.3"),
    channel_probe("create, policy 2, as documented", channel_refused(400, "BadRequestPayload"),
        channel_request("POST", configuration(2)), "F.3", lab="documented"),
    channel_probe("create, without the capability", channel_refused(400, "FeatureNotEnabled"),
        channel_request("POST", configuration(), path=f"/1/apps/{INCAPABLE}/channels"), "F.3"),
    channel_probe("the server goes", GoAway(NO_ERROR, 0, b'{"reason":"Shutdown"}'), None, "F.3", lab="going too",
        meanwhile=lambda lab: lab.emulator.terminate()),
    channel_probe("create, no push type", channel_refused(400, "MissingPushType"),
        channel_request("POST", b'{"message-storage-policy":1}'), "F.3"),
    channel_probe("create, push type alert", channel_refused(400, "InvalidPushType"),
        channel_request("POST", configuration(1, "alert")), "F.3"),
    channel_probe("create, body of 6,000 bytes", channel_refused(413, "PayloadTooLarge"),
        channel_request("POST", b" " * 6000), "F.3"),
    channel_probe("no authorization", channel_refused(403, "MissingProviderToken"),
        channel_request("POST", configuration(), authorization=None), "F.3"),
    channel_probe("forged token", channel_refused(403, "InvalidProviderToken"),
        channel_request("POST", configuration(), authorization="bearer a.b.c"), "F.3"),
    Probe("F.3", "expired token", channel_refused(403, "ExpiredProviderToken"),
        lambda lab: channel_request("POST", configuration(), authorization=bearer(lab.key.token(age=7200)))(lab),
        connection={"listener": "gateway"}),
    Probe("F.3", "a third token at once", channel_refused(429, "TooManyProviderTokenUpdates"),
        lambda lab: channel_request("POST", configuration(), authorization=bearer(lab.key.token(age=2)))(lab),
        [lambda lab, age=age: channel_request("GET", path=f"/1/apps/{BUNDLE}/all-channels",
        authorization=bearer(lab.key.token(age=age)))(lab) for age in (0, 1)], connection={"listener": "gateway"}),
    Probe("F.3", "another app's key", channel_refused(403, "TopicMismatch"),
        lambda lab: channel_request("POST", configuration(),
        authorization=bearer(lab.keys[OTHER_APP_KEY].token()))(lab), connection={"listener": "gateway"}),
    channel_probe("another app's certificate", channel_refused(403, "TopicMismatch"),
        channel_request("POST", configuration(), authorization=None), "F.3", certificate=shows(SINGLE)),
    channel_probe("the app's certificate", CREATED, channel_request("POST", configuration(), authorization=None),
        certificate=shows(TOPIC)),
    channel_probe("certificate for production", environment_goaway(),
        channel_request("POST", configuration(), authorization=None), "C.4",
        certificate=shows("com.example.production")),
    channel_probe("certificate without a topic", channel_refused(403, "BadCertificate"),
        channel_request("POST", configuration(), authorization=None), "F.3",
        certificate=lambda lab: lab.authority.issue("Apple Push Services: ")),
    channel_probe("bundle id with a suffix", channel_refused(400, "TopicDisallowed"),
        channel_request("POST", configuration(), path=f"/1/apps/{LIVE_ACTIVITY}/channels"), "F.3"),
    channel_probe("bundle id with a percent sign", channel_refused(400, "BadRequestParams"),
        channel_request("POST", configuration(), path="/1/apps/com%2eexample/channels"), "F.3"),
    channel_probe("method PUT", channel_refused(405, "MethodNotAllowed"), channel_request("PUT", configuration()),
        "F.3"),
    channel_probe("method POST for the list", channel_refused(405, "MethodNotAllowed"),
        channel_request("POST", path=f"/1/apps/{BUNDLE}/all-channels"), "F.3"),
    channel_probe("path /1/apps/…", channel_refused(404, "BadPath"), channel_request("GET", path=f"/1/apps/{BUNDLE}"),
        "F.3"),
    channel_probe("channel id in the path", channel_refused(404, "BadPath"),
        channel_request("GET", path=f"/1/apps/{BUNDLE}/channels/{NO_CHANNEL}"), "K.24"),
    channel_probe("one channel more than 10,000", channel_refused(400, "CannotCreateChannelConfig"),
        channel_request("POST", configuration(), path="/1/apps/com.example.full/channels"), "F.3",
        prepare=lambda lab: lab.fill_channels("com.example.full", 10_000)),
    Probe("F.1", "production on the feedback port", CREATED, channel_request("POST", configuration()),
        connection={"listener": "feedback", "name": "api-manage-broadcast.push.apple.com"}),
]

# Broadcasts (F.2)


def broadcast(body=PAYLOAD, path=f"/4/broadcasts/apps/{BUNDLE}", channel="stored", method="POST", **changes):
    def make(lab):
        fields = {
            ":method": method, ":scheme": "https", ":path": path, ":authority": "api-broadcast.sandbox.push.apple.com",
            "authorization": bearer(lab.jwt), "apns-request-id": ID,
                "apns-channel-id": lab.prepared.get(channel, channel),
            "apns-push-type": "Liveactivity", "apns-expiration": "0", "apns-priority": "10"}
        return Request(listed(fields | {name.replace("_", "-"): value for name, value in changes.items()}), body)
    return make


BROADCAST_DONE = Expected(200, {"apns-request-id": ID, "apns-unique-id": r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"})


def broadcast_probe(name, expected, request, section="F.3", **options):
    return Probe(section, f"broadcast: {name}", expected, request, **options)


BROADCASTS = [
    broadcast_probe("stored channel", BROADCAST_DONE, broadcast(), "F.2"),
    broadcast_probe("stored channel, an expiration", BROADCAST_DONE, broadcast(apns_expiration="4000000000"), "F.2"),
    broadcast_probe("channel without storage", BROADCAST_DONE, broadcast(channel="unstored"), "F.2"),
    broadcast_probe("liveactivity in small letters", BROADCAST_DONE, broadcast(apns_push_type="liveactivity"), "F.2"),
    broadcast_probe("priority 1", BROADCAST_DONE, broadcast(apns_priority="1"), "F.2"),
    broadcast_probe("apns-id for apns-request-id", BROADCAST_DONE, broadcast(apns_request_id=None, apns_id=ID), "F.2"),
    broadcast_probe("no request id", Expected(200, BROADCAST_DONE.fields | {"apns-request-id": MADE}),
        broadcast(apns_request_id=None), "F.2"),
    broadcast_probe("5,120 bytes", BROADCAST_DONE, broadcast(sized(5120)), "F.2"),
    broadcast_probe("5,121 bytes", channel_refused(413, "PayloadTooLarge"), broadcast(sized(5121))),
    broadcast_probe("api-broadcast host", BROADCAST_DONE, broadcast(), "K.2",
        connection={"name": "api-broadcast.sandbox.push.apple.com"}),
    broadcast_probe("expiration for a channel without storage", channel_refused(400, "BadExpirationDate"),
        broadcast(channel="unstored", apns_expiration="4000000000")),
    broadcast_probe("expiration soon", channel_refused(400, "BadExpirationDate"), broadcast(apns_expiration="soon")),
    broadcast_probe("no expiration", channel_refused(400, "BadExpirationDate"), broadcast(apns_expiration=None)),
    broadcast_probe("no priority", channel_refused(400, "BadPriority"), broadcast(apns_priority=None)),
    broadcast_probe("priority 7", channel_refused(400, "BadPriority"), broadcast(apns_priority="7")),
    broadcast_probe("no push type", channel_refused(400, "MissingPushType"), broadcast(apns_push_type=None)),
    broadcast_probe("push type alert", channel_refused(400, "InvalidPushType"), broadcast(apns_push_type="alert")),
    broadcast_probe("no channel id", channel_refused(400, "MissingChannelId"), broadcast(channel=None)),
    broadcast_probe("channel id not base64", channel_refused(400, "BadChannelId"), broadcast(channel="???")),
    broadcast_probe("channel never made", channel_refused(400, "ChannelNotRegistered"), broadcast(channel=NO_CHANNEL)),
    broadcast_probe("empty body", channel_refused(400, "PayloadEmpty"), broadcast(b"")),
    broadcast_probe("request id nope", channel_refused(400, "BadMessageId", MADE), broadcast(apns_request_id="nope")),
    broadcast_probe("bundle id with a suffix", channel_refused(400, "TopicDisallowed"),
        broadcast(path=f"/4/broadcasts/apps/{LIVE_ACTIVITY}")),
    broadcast_probe("bundle id with a percent sign", channel_refused(400, "BadRequestParams"),
        broadcast(path="/4/broadcasts/apps/com%2eexample")),
    broadcast_probe("another app's key", channel_refused(403, "TopicMismatch"),
        lambda lab: broadcast(authorization=bearer(lab.keys[OTHER_APP_KEY].token()))(lab)),
    broadcast_probe("another app's certificate", channel_refused(403, "TopicMismatch"), broadcast(authorization=None),
        certificate=shows(SINGLE)),
    broadcast_probe("no authorization", channel_refused(403, "MissingProviderToken"), broadcast(authorization=None)),
    broadcast_probe("forged token", channel_refused(403, "InvalidProviderToken"),
        broadcast(authorization="bearer a.b.c")),
    broadcast_probe("expired token", channel_refused(403, "ExpiredProviderToken"),
        lambda lab: broadcast(authorization=bearer(lab.key.token(age=7200)))(lab)),
    broadcast_probe("a third token at once", channel_refused(429, "TooManyProviderTokenUpdates"),
        lambda lab: broadcast(authorization=bearer(lab.key.token(age=2)))(lab),
        before=[broadcast(), lambda lab: broadcast(authorization=bearer(lab.key.token(age=1)))(lab)]),
    broadcast_probe("too many on one channel", channel_refused(429, "TooManyRequests"), broadcast(),
        before=[broadcast()], lab="flood", prepare=lambda lab: lab.prepare_channels()),
    broadcast_probe("without the capability", channel_refused(400, "FeatureNotEnabled"),
        broadcast(path=f"/4/broadcasts/apps/{INCAPABLE}")),
    broadcast_probe("method GET", channel_refused(405, "MethodNotAllowed"), broadcast(b"", method="GET")),
    broadcast_probe("path ends early", refused(404, "BadPath", MADE), broadcast(path="/4/broadcasts/apps")),
]

# What nothing that a provider does brings about, and all the rest, by magic tokens and fault rules


def by_magic(status, word):
    body = rb'\{"reason":"%s","timestamp":1[0-9]{12}\}' % word.encode() if status == 410 else None
    return Probe("faults", f"magic token !{word}", refused(status, word, body=body), push(magic(word).hex()))


def by_rule(status, word):
    def rule(lab):
        Rules(lab.emulator).add({"reason": word}, name=word, when={"next": 1}, interface="provider", topic=TOPIC)
    return broadcast_probe(f"fault rule {word}", channel_refused(status, word), broadcast(), "faults", prepare=rule)


FAULTS = [
    by_magic(status, word) for status, words in REASONS["D.5"].items() for word in words.split()
] + [by_rule(status, word) for status in (500, 503) for word in REASONS["F.3"][status].split()]

ALL = (
    EXAMPLE + PLAIN + PATHS + REPEATED + ORDER + TYPES + TOKENS + CERTIFICATES + ENVIRONMENTS + SWITCHES + CHANNELS
    + BROADCASTS + FAULTS)
