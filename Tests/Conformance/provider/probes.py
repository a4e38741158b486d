"""What a provider can do right and wrong, and what Apple answers: data, taken from the documentation."""

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

# What an id looks like that the server made (`Documentation/provider-api.md#response`): upper case.
MADE = r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"
CHANNEL = r"[A-Za-z0-9+/]+={0,2}"
JSON = "application/json"


# Every reason that Apple documents or that was seen on the wire, by table of the documentation and status.
REASONS = {
    "reasons": {
        400: "BadCollapseId BadDeviceToken BadExpirationDate BadMessageId BadPriority BadTopic DeviceTokenNotForTopic "
             "DuplicateHeaders IdleTimeout InvalidPushType MissingDeviceToken MissingTopic PayloadEmpty "
             "TopicDisallowed",
        403: "BadCertificate BadCertificateEnvironment BadEnvironmentKeyIdInToken BadEnvironmentKeyInToken "
             "ExpiredProviderToken Forbidden InvalidProviderToken MissingProviderToken UnrelatedKeyIdInToken",
        404: "BadPath", 405: "MethodNotAllowed", 410: "ExpiredToken Unregistered", 413: "PayloadTooLarge",
        429: "TooManyProviderTokenUpdates TooManyRequests", 500: "InternalServerError",
        503: "ServiceUnavailable Shutdown"},
    "channel-reasons": {
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
        return ("channel-reasons" if is_of_channels else "reasons", word) if word else None

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


# `Documentation/provider-api.md#example-push`, row by row

EXAMPLE = [
    Probe("example-push", "the example", accepted(), push()),
    Probe("example-push", "no authorization", refused(403, "MissingProviderToken"), push(authorization=None)),
    Probe("example-push", "method GET", refused(405, "MethodNotAllowed"), push(body=b"", **{":method": "GET"})),
    Probe("example-push", "path /3/devices/…", refused(404, "BadPath"),
        lambda lab: Request(lab.fields(**{":path": f"/3/devices/{lab.token}"}))),
    Probe("example-push", "path /3/device/", refused(400, "MissingDeviceToken"), push("")),
    Probe("example-push", "token zz", refused(400, "BadDeviceToken"), push("zz")),
    Probe("example-push", "token zz, bad authorization", refused(403, "InvalidProviderToken"),
        push("zz", authorization=bearer("a.b.c"))),
    Probe("example-push", "no topic", refused(400, "MissingTopic"), push(apns_topic=None)),
    Probe("example-push", "priority 7", refused(400, "BadPriority"), push(apns_priority="7")),
    Probe("example-push", "push type foo", refused(400, "InvalidPushType"), push(apns_push_type="foo")),
    Probe("example-push", "apns-id xyz", refused(400, "BadMessageId", MADE), push(apns_id="xyz")),
    Probe("example-push", "collapse id of 64 bytes", accepted(), push(apns_collapse_id="c" * 64)),
    Probe("example-push", "collapse id of 65 bytes", refused(400, "BadCollapseId"), push(apns_collapse_id="c" * 65)),
    Probe("example-push", "body of 0 bytes", refused(400, "PayloadEmpty"), push(body=b"")),
    Probe("example-push", "alert of 4096 bytes", accepted(), push(body=sized(4096))),
    Probe("example-push", "alert of 4097 bytes", refused(413, "PayloadTooLarge"), push(body=sized(4097))),
    Probe("example-push", "voip of 5120 bytes", accepted(),
        for_token("voip", sized(5120), apns_push_type="voip", apns_topic=VOIP)),
    Probe("example-push", "voip of 5121 bytes", refused(413, "PayloadTooLarge"),
        for_token("voip", sized(5121), apns_push_type="voip", apns_topic=VOIP)),
    Probe("example-push", "token whose app is gone", refused(410, "Unregistered",
        body=rb'\{"reason":"Unregistered","timestamp":1[0-9]{12}\}'), for_token("gone")),
]

# Twenty plain probes that public mocks get wrong

PLAIN = [
    Probe("request", "forged signature", refused(403, "InvalidProviderToken"),
        with_token(lambda lab: bearer(lab.key.token(key=ec.generate_private_key(ec.SECP256R1()))))),
    Probe("request", "priority 1", accepted(), push(apns_priority="1")),
    Probe("request", "priority 5", accepted(), push(apns_priority="5")),
    Probe("request", "priority twice", refused(400, "DuplicateHeaders"), push(apns_priority=["10", "10"])),
    Probe("request", "priority 010", refused(400, "BadPriority"), push(apns_priority="010")),
    Probe("request", "priority empty", refused(400, "BadPriority"), push(apns_priority="")),
    Probe("request", "no priority", accepted(), push(apns_priority=None)),
    Probe("request", "apns-id nope", refused(400, "BadMessageId", MADE), push(apns_id="nope")),
    Probe("request", "apns-id empty", refused(400, "BadMessageId", MADE), push(apns_id="")),
    Probe("request", "apns-id without hyphens", refused(400, "BadMessageId", MADE), push(apns_id=ID.replace("-", ""))),
    Probe("request", "apns-id in upper case", accepted("ABCDEFAB-2222-4333-8444-55555555AAAA"),
        push(apns_id="ABCDEFAB-2222-4333-8444-55555555AAAA")),
    Probe("request", "no apns-id", accepted(MADE), push(apns_id=None)),
    Probe("request", "no apns-id, refused", refused(400, "BadPriority", MADE), push(apns_id=None, apns_priority="2")),
    Probe("request", "expiration soon", refused(400, "BadExpirationDate"), push(apns_expiration="soon")),
    Probe("request", "expiration -1", refused(400, "BadExpirationDate"), push(apns_expiration="-1")),
    Probe("request", "expiration 1.5", refused(400, "BadExpirationDate"), push(apns_expiration="1.5")),
    Probe("request", "expiration of 30 digits", refused(400, "BadExpirationDate"), push(apns_expiration="9" * 30)),
    Probe("request", "expiration in the past", accepted(), push(apns_expiration="1700000000")),
    Probe("request", "expiration in 2106", accepted(), push(apns_expiration="4294967296")),
    Probe("request", "no expiration", accepted(), push(apns_expiration=None)),
    Probe("request", "collapse id of 33 two-byte letters", refused(400, "BadCollapseId"),
        push(apns_collapse_id="é".encode() * 33)),
    Probe("request", "no push type", accepted(), push(apns_push_type=None)),
    Probe("request", "push type Alert", refused(400, "InvalidPushType"), push(apns_push_type="Alert")),
    Probe("request", "push type empty", refused(400, "InvalidPushType"), push(apns_push_type="")),
    Probe("request", "topic empty", refused(400, "MissingTopic"), push(apns_topic="")),
    Probe("request", "topic with a blank", refused(400, "BadTopic"), push(apns_topic="com.example app")),
    Probe("request", "topic of 256 bytes", refused(400, "BadTopic"), push(apns_topic="a" * 256)),
    Probe("request", "topic of an unknown app", refused(400, "DeviceTokenNotForTopic"), push(apns_topic=NO_APP)),
    Probe("request", "token in upper case", accepted(), lambda lab: Request(lab.fields(lab.token.upper()))),
    Probe("request", "token made up", refused(400, "BadDeviceToken"), push("ab" * 32)),
    Probe("request", "token of 31 bytes", refused(400, "BadDeviceToken"),
        lambda lab: Request(lab.fields(lab.token[:62]))),
    Probe("request", "token of 63 digits", refused(400, "BadDeviceToken"),
        lambda lab: Request(lab.fields(lab.token[:63]))),
    Probe("request", "token of 100 bytes", refused(400, "BadDeviceToken"), push("ab" * 100)),
    Probe("request", "token of 4,000 digits", refused(400, "BadDeviceToken"), push("a" * 4000)),
    Probe("request", "token and a query", refused(400, "BadDeviceToken"),
        lambda lab: Request(lab.fields(lab.token + "?a=b"))),
    Probe("request", "scheme Bearer", accepted(), with_token(lambda lab: f"Bearer {lab.jwt}")),
    Probe("request", "scheme BEARER", accepted(), with_token(lambda lab: f"BEARER {lab.jwt}")),
    Probe("request", "scheme basic", refused(403, "MissingProviderToken"), push(authorization="basic YTpi")),
    Probe("request", "bearer and nothing", refused(403, "MissingProviderToken"), push(authorization="bearer ")),
    Probe("request", "content type of a form", accepted(), push(content_type="application/x-www-form-urlencoded")),
    Probe("request", "content type twice", accepted(), push(content_type=["a/b", "a/b"])),
    Probe("request", "user agent, accept, x-other", accepted(), push(user_agent="probe", accept="*/*", x_other="1")),
    Probe("request", "no JSON", accepted(), push(body=b"no JSON")),
    Probe("request", "no aps", accepted(), push(body=b"{}")),
    Probe("request", "body of 30,000 bytes", refused(413, "PayloadTooLarge"), push(body=b"x" * 30_000)),
]

# The path and the method

PATHS = [
    Probe("order-of-checks", f"path {path}", refused(404, "BadPath"), push(**{":path": path}))
    for path in ["/", "/3", "/3/device", "/2/device/abc", "/3/Device/abc", "/3/device/ab/cd", "//3/device/abc"]
] + [
    Probe("order-of-checks", f"method {method}", refused(405, "MethodNotAllowed"), push(**{":method": method}))
    for method in ["PUT", "DELETE", "PATCH", "post", "OPTIONS"]
] + [Probe("order-of-checks", "method HEAD", Expected(405, {"content-type": JSON, "apns-id": ID}),
    push(body=b"", **{":method": "HEAD"}))]

REPEATED = [
    Probe("order-of-checks", f"{name} twice", refused(400, "DuplicateHeaders", id), push(**{name: [value, value]}))
    for name, value, id in [
        ("apns-topic", TOPIC, ID), ("apns-push-type", "alert", ID), ("apns-expiration", "0", ID),
        ("apns-collapse-id", "a", ID), ("apns-id", ID, ID), ("apns-something", "x", ID)]
] + [Probe("order-of-checks", "authorization twice", refused(400, "DuplicateHeaders"),
    lambda lab: Request(lab.fields(authorization=[bearer(lab.jwt)] * 2)))]

# What is answered when two things are wrong: the first of `Documentation/provider-api.md#order-of-checks`

ORDER = [
    Probe("order-of-checks", f"{first} before {second}", expected, request)
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

# Push types, each with the topic it wants (`Documentation/provider-api.md#push-types`)


def typed(push_type, suffix, priority="10"):
    return for_token(suffix, apns_push_type=push_type, apns_topic=TOPIC + suffix, apns_priority=priority)


SUFFIXES = {
    "location": ".location-query", "voip": ".voip", "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
    "widgets": ".push-type.widgets", "controls": ".push-type.controls"}

TYPES = [
    Probe("push-types", f"push type {name}", accepted(), typed(name, suffix)) for name, suffix in SUFFIXES.items()
] + [
    Probe("push-types", "push type mdm", accepted(), push(apns_push_type="mdm", apns_priority=None)),
    Probe("push-types", "background, priority 5", accepted(), push(apns_push_type="background", apns_priority="5")),
    Probe("push-types", "background, no priority", accepted(), push(apns_push_type="background", apns_priority=None)),
    Probe("open-questions", "background, priority 10", refused(400, "BadPriority"), push(apns_push_type="background")),
    Probe("request", "liveactivity of 4097 bytes", refused(413, "PayloadTooLarge"), for_token(
        SUFFIXES["liveactivity"], sized(4097), apns_push_type="liveactivity", apns_topic=LIVE_ACTIVITY)),
    Probe("reasons", "voip token for the app itself", refused(400, "DeviceTokenNotForTopic"), for_token("voip")),
]

# Provider tokens (`Documentation/provider-api.md#provider-tokens`)


def jwt(name, expected, section="provider-tokens", before=(), **token):
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
    Probe("provider-tokens", "iat a float", accepted(),
        with_token(lambda lab: bearer(lab.key.token(claims={"iat": time.time()})))),
    Probe("what-clients-do", "iat a string of digits", accepted(),
        with_token(lambda lab: bearer(lab.key.token(claims={"iat": str(int(time.time()))})))),
    jwt("iat an old string of digits", refused(403, "ExpiredProviderToken"), claims={"iat": "1700000000"}),
    jwt("iat a word", INVALID, claims={"iat": "now"}),
    jwt("iat missing", INVALID, claims={"iat": None}),
    jwt("59 minutes old", accepted(), age=3540),
    jwt("61 minutes old", refused(403, "ExpiredProviderToken"), age=3660),
    jwt("of 1970", refused(403, "ExpiredProviderToken"), claims={"iat": 0}),
    jwt("59 minutes ahead", accepted(), "open-questions", age=-3540),
    jwt("61 minutes ahead", INVALID, "open-questions", age=-3660),
    jwt("alg none", INVALID, header={"alg": "none"}),
    jwt("alg HS256", INVALID, header={"alg": "HS256"}),
    Probe("provider-tokens", "alg ES384, curve P-384", INVALID, with_token(lambda lab: bearer(
        lab.key.token(header={"alg": "ES384"}, key=ec.generate_private_key(ec.SECP384R1()))))),
    Probe("provider-tokens", "alg ES256, curve P-384", INVALID,
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
    Probe("provider-tokens", "kid of another key", INVALID,
        with_token(lambda lab: bearer(lab.key.token(header={"kid": SECOND_KEY})))),
    Probe("provider-tokens", "one bit of the header changed", INVALID,
        with_token(lambda lab: bearer(flipped(lab.key.token(), 0)))),
    Probe("provider-tokens", "one bit of the claims changed", INVALID,
        with_token(lambda lab: bearer(flipped(lab.key.token(), 1)))),
    Probe("provider-tokens", "one bit of the signature changed", INVALID,
        with_token(lambda lab: bearer(flipped(lab.key.token(), 2)))),
    Probe("provider-tokens", "signature cut", INVALID, with_token(lambda lab: bearer(lab.key.token()[:-4]))),
    Probe("provider-tokens", "signature missing", INVALID,
        with_token(lambda lab: bearer(lab.key.token().rpartition(".")[0] + "."))),
    Probe("provider-tokens", "two parts", INVALID, with_token(lambda lab: bearer(lab.key.token().rpartition(".")[0]))),
    Probe("provider-tokens", "four parts", INVALID, with_token(lambda lab: bearer(lab.key.token() + ".x"))),
    Probe("provider-tokens", "words", INVALID, push(authorization="bearer a provider token")),
    Probe("provider-tokens", "7,000 bytes", INVALID, push(authorization="bearer " + "a" * 7000)),
    Probe("key-kinds", "a second key of the team", accepted(), other_key(SECOND_KEY)),
    Probe("key-kinds", "key for the sandbox", accepted(), other_key(SANDBOX_KEY)),
    Probe("open-questions", "key for production, in the sandbox", refused(403, "BadEnvironmentKeyInToken"),
        other_key(PRODUCTION_KEY)),
    Probe("key-kinds", "key for the topic", accepted(), other_key(APP_KEY)),
    Probe("open-questions", "key for another topic", refused(400, "TopicDisallowed"), other_key(OTHER_APP_KEY)),
    Probe("order-of-checks", "topic of the key before device token", refused(400, "TopicDisallowed"),
        with_token(lambda lab: bearer(lab.keys[OTHER_APP_KEY].token()), **{":path": "/3/device/zz"})),
    Probe("renewal", "a second token at once", accepted(), with_token(lambda lab: bearer(lab.key.token(age=1))),
        [push()]),
    Probe("renewal", "a third token at once", refused(429, "TooManyProviderTokenUpdates"),
        with_token(lambda lab: bearer(lab.key.token(age=2))),
        [push(), with_token(lambda lab: bearer(lab.key.token(age=1)))]),
    Probe("renewal", "the first token again after the third", refused(429, "TooManyProviderTokenUpdates"), push(),
        [push(), *(with_token(lambda lab, age=age: bearer(lab.key.token(age=age))) for age in (1, 2))]),
    Probe("open-questions", "a token of another team", INVALID, other_key(OTHER_TEAMS_KEY), [push()]),
    Probe("key-kinds", "an unrelated topic's key", refused(403, "UnrelatedKeyIdInToken"), other_key(OTHER_APP_KEY),
        [other_key(APP_KEY)]),
    Probe("key-kinds", "a team's key after a topic's", refused(403, "UnrelatedKeyIdInToken"), other_key(KEY),
        [other_key(APP_KEY)]),
    Probe("renewal", "an expired token before a good one", accepted(), push(),
        [with_token(lambda lab: bearer(lab.key.token(age=7200)))]),
]

# Certificates (`Documentation/provider-api.md#certificates`)


def shows(name):
    return lambda lab: lab.emulator.push_certificate(name)


def by_certificate(name, certificate, expected, section="topics-extension", token=None, **request):
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
    by_certificate("authorization beside it is ignored", names_only(TOPIC), accepted(), "request",
        authorization="bearer nonsense"),
    by_certificate("issued for one topic alone, none named", shows(ALONE), accepted(), token=ALONE),
    by_certificate("a topic it does not list", names_only(TOPIC), refused(400, "TopicDisallowed"),
        apns_topic=OTHER_APP),
    by_certificate("another app's token", names_only(SINGLE), refused(400, "DeviceTokenNotForTopic"), "reasons"),
    by_certificate("universal, none named", shows(UNIVERSAL), refused(400, "MissingTopic")),
    by_certificate("universal, the app named", shows(TOPIC), accepted(), apns_topic=TOPIC),
    by_certificate("universal, voip", shows(UNIVERSAL), accepted(), token="universal voip",
        apns_topic=UNIVERSAL + ".voip", apns_push_type="voip"),
    by_certificate("voip not listed", names_only(TOPIC), refused(400, "TopicDisallowed"), token="voip", apns_topic=VOIP,
        apns_push_type="voip"),
    by_certificate("live activity", shows(TOPIC), refused(400, "TopicDisallowed"), "push-types",
        apns_topic=LIVE_ACTIVITY,
        apns_push_type="liveactivity"),
    by_certificate("location", shows(TOPIC), refused(400, "TopicDisallowed"), "push-types",
        apns_topic=TOPIC + ".location-query", apns_push_type="location"),
    by_certificate("for production, in the sandbox", shows("com.example.production"), environment_goaway(),
        "environment-mismatch"),
    by_certificate("that names no topic", lambda lab: lab.authority.issue("Apple Push Services"),
        refused(403, "BadCertificate"), "reasons"),
    by_certificate("expired", lambda lab: lab.authority.issue("Apple Push Services: old", TOPIC, (-30, -1)),
        NoHandshake(), "client-certificate"),
    by_certificate("not valid yet", lambda lab: lab.authority.issue("Apple Push Services: new", TOPIC, (1, 30)),
        NoHandshake(), "client-certificate"),
    by_certificate("of another authority", lambda lab: lab.stranger.issue("Apple Push Services: strange", TOPIC),
        NoHandshake(), "client-certificate"),
    Probe("environment-mismatch", "for the sandbox, in production", environment_goaway(),
        push(authorization=None, apns_topic=None),
        certificate=shows("com.example.sandbox"), connection={"name": PRODUCTION}),
]

# Environments

ENVIRONMENTS = [
    Probe("response", "production says no apns-unique-id", accepted(unique=False), for_token("production"),
        connection={"name": PRODUCTION}),
    Probe("order-of-checks", "sandbox token in production", refused(400, "BadDeviceToken"), push(),
        connection={"name": PRODUCTION}),
    Probe("order-of-checks", "production token in the sandbox", refused(400, "BadDeviceToken"),
        for_token("production"),
        connection={"name": SANDBOX}),
    Probe("open-questions", "key for the sandbox, in production", refused(403, "BadEnvironmentKeyInToken"),
        other_key(SANDBOX_KEY),
        connection={"name": PRODUCTION}),
    Probe("connection", "the old name of the sandbox", accepted(), push(),
        connection={"name": "api.development.push.apple.com"}),
    Probe("what-clients-do", "no ALPN", accepted(), push(), connection={"alpn": None}),
]

# Limits that are off unless asked for

SWITCHES = [
    Probe("open-questions", "too many to one device", refused(429, "TooManyRequests"), push(), [push()], lab="flood"),
    Probe("open-questions", "idle for too long", GoAway(NO_ERROR, 0, b'{"reason":"IdleTimeout"}'), None, lab="idle"),
    Probe("open-questions", "background, priority 10, allowed", accepted(), push(apns_push_type="background"),
        lab="switched"),
    Probe("example-push", "topic of VoIP, push type alert, minded", refused(400, "InvalidPushType"),
        push(apns_topic=VOIP),
        lab="switched"),
    Probe("example-push", "topic of the app, push type voip, minded", refused(400, "InvalidPushType"),
        push(apns_push_type="voip"), lab="switched"),
    Probe("open-questions", "key for production, as documented", refused(403, "BadEnvironmentKeyIdInToken"),
        other_key(PRODUCTION_KEY), lab="documented"),
    Probe("reasons", "token older than the operator allows",
        refused(410, "ExpiredToken", body=rb'\{"reason":"ExpiredToken","timestamp":1[0-9]{12}\}'), push(),
        lab="short-lived", prepare=lambda lab: lab.advance("31m")),
    Probe("reasons", "the server goes", GoAway(NO_ERROR, 0, b'{"reason":"Shutdown"}'), None, lab="going",
        meanwhile=lambda lab: lab.emulator.terminate()),
]

# Channel management (`Documentation/provider-api.md#channel-management`)

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


def channel_probe(name, expected, request, section="channel-management", **options):
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
        channel_request("GET", channel=NO_CHANNEL), "channel-reasons"),
    channel_probe("read, of another app", channel_refused(400, "ChannelNotRegistered"),
        channel_request("GET", path=f"/1/apps/{OTHER_APP}/channels", channel="stored"), "channel-reasons"),
    channel_probe("read, no channel id", channel_refused(400, "MissingChannelId"), channel_request("GET"),
        "channel-reasons"),
    channel_probe("delete, no channel id", channel_refused(400, "MissingChannelId"), channel_request("DELETE"),
        "channel-reasons"),
    channel_probe("read, channel id not base64", channel_refused(400, "BadChannelId"),
        channel_request("GET", channel="not base64!"), "channel-reasons"),
    channel_probe("request id nope", channel_refused(400, "BadMessageId", MADE),
        channel_request("POST", configuration(), apns_request_id="nope"), "channel-reasons"),
    channel_probe("create, no body", channel_refused(400, "PayloadEmpty"), channel_request("POST"), "channel-reasons"),
    channel_probe("create, no JSON", channel_refused(400, "BadRequestPayload"), channel_request("POST", b"no JSON"),
        "channel-reasons"),
    channel_probe("create, a list", channel_refused(400, "BadRequestPayload"), channel_request("POST", b"[]"),
        "channel-reasons"),
    channel_probe("create, policy 2", channel_refused(400, "MissingChannelQueueSize"),
        channel_request("POST", configuration(2)), "channel-reasons"),
    channel_probe("create, no policy", channel_refused(400, "MissingChannelQueueSize"),
        channel_request("POST", b'{"push-type":"LiveActivity"}'), "channel-reasons"),
    channel_probe("create, policy 2, as documented", channel_refused(400, "BadRequestPayload"),
        channel_request("POST", configuration(2)), "channel-reasons", lab="documented"),
    channel_probe("create, without the capability", channel_refused(400, "FeatureNotEnabled"),
        channel_request("POST", configuration(), path=f"/1/apps/{INCAPABLE}/channels"), "channel-reasons"),
    channel_probe("the server goes", GoAway(NO_ERROR, 0, b'{"reason":"Shutdown"}'), None, "channel-reasons",
        lab="going too",
        meanwhile=lambda lab: lab.emulator.terminate()),
    channel_probe("create, no push type", channel_refused(400, "MissingPushType"),
        channel_request("POST", b'{"message-storage-policy":1}'), "channel-reasons"),
    channel_probe("create, push type alert", channel_refused(400, "InvalidPushType"),
        channel_request("POST", configuration(1, "alert")), "channel-reasons"),
    channel_probe("create, body of 6,000 bytes", channel_refused(413, "PayloadTooLarge"),
        channel_request("POST", b" " * 6000), "channel-reasons"),
    channel_probe("no authorization", channel_refused(403, "MissingProviderToken"),
        channel_request("POST", configuration(), authorization=None), "channel-reasons"),
    channel_probe("forged token", channel_refused(403, "InvalidProviderToken"),
        channel_request("POST", configuration(), authorization="bearer a.b.c"), "channel-reasons"),
    Probe("channel-reasons", "expired token", channel_refused(403, "ExpiredProviderToken"),
        lambda lab: channel_request("POST", configuration(), authorization=bearer(lab.key.token(age=7200)))(lab),
        connection={"listener": "gateway"}),
    Probe("channel-reasons", "a third token at once", channel_refused(429, "TooManyProviderTokenUpdates"),
        lambda lab: channel_request("POST", configuration(), authorization=bearer(lab.key.token(age=2)))(lab),
        [lambda lab, age=age: channel_request("GET", path=f"/1/apps/{BUNDLE}/all-channels",
        authorization=bearer(lab.key.token(age=age)))(lab) for age in (0, 1)], connection={"listener": "gateway"}),
    Probe("channel-reasons", "another app's key", channel_refused(403, "TopicMismatch"),
        lambda lab: channel_request("POST", configuration(),
        authorization=bearer(lab.keys[OTHER_APP_KEY].token()))(lab), connection={"listener": "gateway"}),
    channel_probe("another app's certificate", channel_refused(403, "TopicMismatch"),
        channel_request("POST", configuration(), authorization=None), "channel-reasons", certificate=shows(SINGLE)),
    channel_probe("the app's certificate", CREATED, channel_request("POST", configuration(), authorization=None),
        certificate=shows(TOPIC)),
    channel_probe("certificate for production", environment_goaway(),
        channel_request("POST", configuration(), authorization=None), "environment-mismatch",
        certificate=shows("com.example.production")),
    channel_probe("certificate without a topic", channel_refused(403, "BadCertificate"),
        channel_request("POST", configuration(), authorization=None), "channel-reasons",
        certificate=lambda lab: lab.authority.issue("Apple Push Services: ")),
    channel_probe("bundle id with a suffix", channel_refused(400, "TopicDisallowed"),
        channel_request("POST", configuration(), path=f"/1/apps/{LIVE_ACTIVITY}/channels"), "channel-reasons"),
    channel_probe("unknown member of the configuration", channel_refused(400, "BadRequestParams"),
        channel_request("POST", b'{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}'), "channel-reasons"),
    channel_probe("bundle id with a percent sign", channel_refused(404, "BadPath"),
        channel_request("POST", configuration(), path="/1/apps/com%2eexample/channels"), "channel-reasons"),
    channel_probe("method PUT", channel_refused(405, "MethodNotAllowed"), channel_request("PUT", configuration()),
        "channel-reasons"),
    channel_probe("method POST for the list", channel_refused(405, "MethodNotAllowed"),
        channel_request("POST", path=f"/1/apps/{BUNDLE}/all-channels"), "channel-reasons"),
    channel_probe("path /1/apps/…", channel_refused(404, "BadPath"), channel_request("GET", path=f"/1/apps/{BUNDLE}"),
        "channel-reasons"),
    channel_probe("channel id in the path", channel_refused(404, "BadPath"),
        channel_request("GET", path=f"/1/apps/{BUNDLE}/channels/{NO_CHANNEL}"), "open-questions"),
    channel_probe("one channel more than 10,000", channel_refused(400, "CannotCreateChannelConfig"),
        channel_request("POST", configuration(), path="/1/apps/com.example.full/channels"), "channel-reasons",
        prepare=lambda lab: lab.fill_channels("com.example.full", 10_000)),
    Probe("channel-management", "production on the feedback port", CREATED, channel_request("POST", configuration()),
        connection={"listener": "feedback", "name": "api-manage-broadcast.push.apple.com"}),
]

# Broadcasts (`Documentation/provider-api.md#broadcast`)


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


def broadcast_probe(name, expected, request, section="channel-reasons", **options):
    return Probe(section, f"broadcast: {name}", expected, request, **options)


BROADCASTS = [
    broadcast_probe("stored channel", BROADCAST_DONE, broadcast(), "broadcast"),
    broadcast_probe("stored channel, an expiration", BROADCAST_DONE, broadcast(apns_expiration="4000000000"),
        "broadcast"),
    broadcast_probe("channel without storage", BROADCAST_DONE, broadcast(channel="unstored"), "broadcast"),
    broadcast_probe("liveactivity in small letters", BROADCAST_DONE, broadcast(apns_push_type="liveactivity"),
        "broadcast"),
    broadcast_probe("priority 1", BROADCAST_DONE, broadcast(apns_priority="1"), "broadcast"),
    broadcast_probe("apns-id for apns-request-id", BROADCAST_DONE, broadcast(apns_request_id=None, apns_id=ID),
        "broadcast"),
    broadcast_probe("no request id", Expected(200, BROADCAST_DONE.fields | {"apns-request-id": MADE}),
        broadcast(apns_request_id=None), "broadcast"),
    broadcast_probe("5,120 bytes", BROADCAST_DONE, broadcast(sized(5120)), "broadcast"),
    broadcast_probe("5,121 bytes", channel_refused(413, "PayloadTooLarge"), broadcast(sized(5121))),
    broadcast_probe("api-broadcast host", BROADCAST_DONE, broadcast(), "open-questions",
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
    broadcast_probe("bundle id with a percent sign", channel_refused(404, "BadPath"),
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
    by_magic(status, word) for status, words in REASONS["reasons"].items() for word in words.split()
] + [by_rule(status, word) for status in (500, 503) for word in REASONS["channel-reasons"][status].split()]

ALL = (
    EXAMPLE + PLAIN + PATHS + REPEATED + ORDER + TYPES + TOKENS + CERTIFICATES + ENVIRONMENTS + SWITCHES + CHANNELS
    + BROADCASTS + FAULTS)
