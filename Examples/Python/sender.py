"""Sends pushes as an app's server should: many at once, again when Apple is busy, never again to an app that is gone."""

import asyncio
import datetime
import random

from aioapns import NotificationRequest

# Apple asks who was answered 500 or 503 to come back after a quarter of an hour, and later each time.
BUSY = {"500", "502", "503", "504"}
BUSY_PAUSE = 15 * 60.0
# Too many pushes to one phone: that phone's pushes wait a little, those to others go on.
FLOOD_PAUSE = 1.0


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

    def __init__(self, client, store, attempts=5, busy_pause=BUSY_PAUSE, flood_pause=FLOOD_PAUSE, width=500):
        self.client, self.store = client, store
        self.attempts, self.busy_pause, self.flood_pause = attempts, busy_pause, flood_pause
        self.places = asyncio.Semaphore(width)

    async def send_all(self, payload, **fields):
        """Pushes to everybody; answers the result of each token."""
        tokens = list(self.store.registered)
        results = await asyncio.gather(*(self.send(token, payload, **fields) for token in tokens))
        return dict(zip(tokens, results))

    async def send(self, token, payload, **fields):
        # One request for all attempts: its apns-id stays, so a push that came twice can be told from two.
        request = NotificationRequest(token, payload, **fields)
        for attempt in range(self.attempts):
            # Only who is under way has a place: nobody waits for a push that is to be tried again much later.
            async with self.places:
                result = await self.client.send_notification(request)
            pause = self.pause_after(result)
            if pause is None or attempt == self.attempts - 1:
                break
            # Random, lest all that were refused together come back together; never shorter than Apple asks for.
            await asyncio.sleep(pause * 2**attempt * random.uniform(1, 1.5))
        if result.status == "410":
            gone_at = datetime.datetime.fromtimestamp(result.timestamp / 1000, datetime.timezone.utc)
            self.store.remove_unless_newer(token, gone_at)
        return result

    def pause_after(self, result):
        """How many seconds to wait before the same push is sent again; None if it is not to be sent again."""
        if result.status == "503" and result.description == "Shutdown":
            return 0.0  # One server of many stops: others take the push at once.
        if result.status in BUSY:
            return self.busy_pause
        # Another 429 is about provider tokens that are made anew too often: sending it again makes that worse.
        return self.flood_pause if result.description == "TooManyRequests" else None
