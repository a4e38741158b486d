"""The page's tables, and what it says where many clients share a fault: drills that belong together, and what to do about it."""

import dataclasses


@dataclasses.dataclass
class Group:
    title: str
    drills: list
    # What the drills do, what is lost by it, and what helps, around a library that does not see to it.
    text: str


@dataclasses.dataclass
class Table:
    """A row for each client that speaks the protocol, a column for each drill of the groups."""

    title: str
    protocol: str
    groups: list

    @property
    def drills(self):
        return [id for group in self.groups for id in group.drills]


TABLES = [
    Table("HTTP/2: GOAWAY and streams", "http2", [
        Group(
            "GOAWAY", ["goaway-graceful", "goaway-kept-open", "goaway-zero", "goaway-highest"],
            "Apple closes every connection sooner or later, and says so with GOAWAY. The frame names the last request that was looked "
            "at. Those above it were not, and it is safe to send them again; those up to it may still be answered. Where a library "
            "drops them or calls them failed, keep a push until its answer is there, and send it again on a new connection. Where a "
            "library fails for good on the old connection, make a new client object when a push fails without an answer."),
        Group(
            "A refused stream", ["refused-stream"],
            "RST_STREAM with REFUSED_STREAM says that a request was not looked at. Send it again."),
        Group(
            "A limit of streams", ["stream-limit-one", "stream-limit-shrinks"],
            "SETTINGS say how many requests may be open at a time. Apple begins with few and may lower the number. Hand a library no "
            "more pushes at a time than that, or fewer, such as a hundred, if it does not keep to the limit itself."),
    ]),
    Table("HTTP/2: connections", "http2", [
        Group(
            "A connection that fails at first", ["connection-refused", "tls-alert"],
            "Try again, after a pause that grows. A program that gives up at once loses a whole batch to a second of trouble in the "
            "network."),
        Group(
            "A connection that breaks", ["connection-reset", "reset-after-delivery"],
            "Nobody knows which of the pushes without an answer were taken. Send them all again: twice is better than never, and "
            "`apns-collapse-id` keeps a user from seeing two."),
        Group(
            "No answer", ["no-answer"],
            "A firewall may forget a connection without telling anybody. Set a timeout of at most a minute for each push. After one "
            "open a new connection, as the old one will not answer the next push either, and send again what has no answer."),
    ]),
    Table("HTTP/2: rejections", "http2", [
        Group(
            "503 Shutdown", ["shutdown"],
            "One of Apple's servers stops. Send the push again at once, on a new connection. Libraries mostly hand the reason to "
            "their caller, who has to do it."),
        Group(
            "500 and 503", ["service-unavailable", "internal-server-error"],
            "Apple asks to try again after 15 minutes, and later each time. A library that tries at once, several times, makes it "
            "worse: switch that off, or count such a push as failed, and keep it for later."),
        Group(
            "429", ["too-many-requests"],
            "One phone gets too many pushes. Its pushes wait, and the others go on."),
        Group(
            "A provider token that is made anew", ["too-many-provider-token-updates"],
            "Apple takes a new provider token every 20 minutes at most. Share one client object between all pushes, and never answer "
            "a rejection by making another token."),
        Group(
            "A provider token that has expired", ["expired-provider-token"],
            "Most libraries renew a token by their own clock and hand this answer to their caller. If clocks differ, or a machine has "
            "slept, every push fails until the time comes. Make a new client object, and send the push again."),
    ]),
    Table("HTTP/2: dead tokens, and answers that take their time", "http2", [
        Group(
            "Tokens that are gone or bad", ["unregistered", "bad-device-token"],
            "One of ten is no reason to end a batch. Note which, and push to it no more."),
        Group(
            "Slow answers", ["slow-answers"],
            "Most of these wait with each push for the answer to the one before. With Apple's servers far away that is a few "
            "pushes a second. Begin many at a time on one connection: threads, tasks or a library's batch. And give an answer "
            "more than a second."),
        Group(
            "Answers in pieces", ["answers-in-pieces"],
            "A frame may come in any number of reads. A client has to read on until it is whole."),
    ]),
    Table("The binary protocol", "binary", [
        Group(
            "What stands behind an error packet",
            ["binary-one-bad-token", "binary-late-error", "binary-error-in-pieces", "binary-shutdown"],
            "This is the fault of the binary protocol: after one bad token the gateway drops all that was sent behind it, and says "
            "which it was in an error packet of six bytes. Read that packet, also when it comes late, and send again all behind the "
            "push that it names. [Examples/PHP](../Examples/PHP/README.md) has a way that needs no waiting."),
        Group(
            "An end without a packet", ["binary-closed-silently"],
            "What was written last is lost, and `write` said that it was fine. Send it again, or tell your caller."),
        Group(
            "A connection that fails at first", ["binary-connection-refused", "binary-tls-alert"],
            "As over HTTP/2: try again, after a pause that grows."),
        Group(
            "Feedback", ["binary-feedback"],
            "Tokens of removed apps are told by the feedback service alone. Read it before a batch, and give these tokens up."),
    ]),
]
# Drills about tokens that nobody can push to: to report these is all that is asked for.
OF_DEAD_TOKENS = {
    "unregistered", "bad-device-token", "binary-one-bad-token", "binary-late-error", "binary-error-in-pieces", "binary-feedback"}
