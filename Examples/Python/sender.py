"""Sends pushes as an app's server should: many at once, again when Apple is busy, never again to an app that is gone."""

import asyncio
import datetime
import random

from aioapns import NotificationRequest

BUSY = {"429", "500", "502", "503", "504"}


class TokenStore:
    """Whom to push to. A database in real life: each token with the moment at which its app last registered."""

    def __init__(self):
        self.registered = {}

    def register(self, token, at=None):
        self.registered[token] = at or datetime.datetime.now(datetime.timezone.utc)

    def remove_unless_newer(self, token, gone_at):
        """An app may have come back since Apple last looked: its registration counts then."""
        if token in self.registered and self.registered[token] <= gone_at:
            del self.registered[token]


class Sender:
    """At most `width` pushes are under way at a time; each is tried `attempts` times, after pauses that double."""

    def __init__(self, client, store, attempts=5, pause=1.0, width=500):
        self.client, self.store = client, store
        self.attempts, self.pause = attempts, pause
        self.places = asyncio.Semaphore(width)

    async def send_all(self, payload, **fields):
        """Pushes to everybody; answers the result of each token."""
        tokens = list(self.store.registered)
        results = await asyncio.gather(*(self.send(token, payload, **fields) for token in tokens))
        return dict(zip(tokens, results))

    async def send(self, token, payload, **fields):
        # One request for all attempts: its apns-id stays, so a push that came twice can be told from two.
        request = NotificationRequest(token, payload, **fields)
        async with self.places:
            for attempt in range(self.attempts):
                result = await self.client.send_notification(request)
                if not is_busy(result) or attempt == self.attempts - 1:
                    break
                # Random, lest all that were refused together come back together.
                await asyncio.sleep(self.pause * 2**attempt * random.uniform(0.5, 1))
        if result.status == "410":
            gone_at = datetime.datetime.fromtimestamp(result.timestamp / 1000, datetime.timezone.utc)
            self.store.remove_unless_newer(token, gone_at)
        return result


def is_busy(result):
    # Another 429 is about provider tokens that are made anew too often: sending it again makes that worse.
    return result.status in BUSY and result.description != "TooManyProviderTokenUpdates"
