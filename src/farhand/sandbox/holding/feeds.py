"""The input queue of the child: writes bytes to its stdin once for each id, and answers waiting clients."""

from __future__ import annotations

import os

from farhand.sandbox.holding.client import Client, HolderRefused
from farhand.sandbox.holding.files import FeedLedger, Json
from farhand.sandbox.holding.poll import WRITE, Poll

CHUNK = 65_536


class Feed:
    """Queued bytes, and the clients that wait for their outcome."""

    __slots__ = ("begun", "data", "feed_id", "sent", "waiting")

    def __init__(self, feed_id: str, data: bytes) -> None:
        self.feed_id = feed_id
        self.data = data
        self.sent = 0
        self.begun = False
        self.waiting: list[Client] = []


class Feeds:
    """The queue before the pipe (FIFO): one feed at a time, whole."""

    def __init__(self, poll: Poll, stdin: int) -> None:
        self._poll = poll
        self._stdin = stdin
        self._open = True
        self._ledger = FeedLedger()
        self._queue: list[Feed] = []

    def feed(self, client: Client, feed_id: str, data: bytes) -> None:
        feed = self._on_its_way(feed_id)
        if feed is None and self._ledger.knows(feed_id):
            client.answer({"reply": self._ledger.answer(feed_id)})
        elif feed is None and not self._open:
            client.answer({"reply": "gone", "fate": "not_taken"})
        else:
            if feed is None:
                feed = Feed(feed_id, data)
                self._queue.append(feed)
                self._watch()
            self._wait(client, feed)

    def fed(self, client: Client, feed_id: str) -> None:
        """The outcome of an id; of one that is queued, as soon as there is one."""
        feed = self._on_its_way(feed_id)
        if feed is None:
            client.answer({"reply": self._ledger.answer(feed_id)})
        else:
            self._wait(client, feed)

    def withdraw(self, client: Client) -> None:
        """The client is gone: what it fed and nobody else waits for is taken back, unless it was begun."""
        for feed in list(self._queue):
            if client in feed.waiting:
                feed.waiting.remove(client)
            if not feed.begun and not feed.waiting:
                self._settle(feed, {})

    def close(self) -> None:
        if self._queue:
            raise HolderRefused("a feed is on its way; close when it is settled")
        self.lose()

    def lose(self) -> None:
        """Nobody reads any more: what had no byte written was not taken, what had some is unknown."""
        if self._open:
            self._open = False
            self._poll.unwatch(self._stdin)
            os.close(self._stdin)
        for feed in list(self._queue):
            if feed.begun and not feed.sent:
                self._ledger.remember("lost", feed.feed_id)
            self._settle(feed, {"reply": "gone", "fate": self._ledger.answer(feed.feed_id)})

    def _on_its_way(self, feed_id: str) -> Feed | None:
        return next((feed for feed in self._queue if feed.feed_id == feed_id), None)

    def _wait(self, client: Client, feed: Feed) -> None:
        feed.waiting.append(client)
        client.busy = True

    def _watch(self) -> None:
        if self._open and self._queue:
            self._poll.watch(self._stdin, WRITE, self._write)
        elif self._open:
            self._poll.unwatch(self._stdin)

    def _write(self, _events: int) -> None:
        """The pipe has room: the next bytes of the first feed, its id on disk before its first byte."""
        feed = self._queue[0]
        if not feed.begun:
            try:
                self._ledger.begin(feed.feed_id)
            except OSError as error:
                self._settle(feed, {"reply": "not_taken", "why": f"the ledger: {error.strerror}"})
                return
            feed.begun = True
        try:
            feed.sent += os.write(self._stdin, memoryview(feed.data)[feed.sent : feed.sent + CHUNK])
        except BlockingIOError:
            return
        except OSError:  # the child closed its stdin
            self.lose()
            return
        if feed.sent == len(feed.data):
            trouble = self._ledger.remember("taken", feed.feed_id)
            self._settle(feed, {"reply": "taken", "trouble": trouble} if trouble else {"reply": "taken"})

    def _settle(self, feed: Feed, reply: Json) -> None:
        self._queue.remove(feed)
        self._watch()
        for client in feed.waiting:
            client.answer(reply)
            client.go_on()
