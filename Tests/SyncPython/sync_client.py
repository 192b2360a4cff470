"""A small client of docs/sync-protocol.md: connections, and files that are kept in memory.

The document calls some data durable. Here this is the data of a `SyncFile` between two calls, because a test that ends a
connection at any time loses nothing else. The client decides nothing. It shows what the server has sent (`base`) with the
pending changesets on top of it.
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import Any, Callable

import messages as m
from login import Stopped, User
from objects import Key, ListOf, NotThere, Objects, node_at
from websocket import Closed, Refused, WebSocket
from wire import (INSERT, MOVE, NO_ELEMENT, Changeset, Damaged, Definition, ElementId, Instruction, Path, Reader, Value, Writer,
                  write_changeset)

# This number stands for a replica that is not registered yet.
OWN = -1
DAY = 86_400_000


class Connection:
    """The WebSocket of a user, with a channel for each file."""

    def __init__(self, user: User) -> None:
        self.user = user
        try:
            self.socket = self._open()
        except Refused as error:
            if error.status != 401:
                raise
            user.refresh()
            self.socket = self._open()
        self.channels: dict[int, SyncFile] = {}
        self.last_channel = 0

    def _open(self) -> WebSocket:
        return WebSocket(self.user.route(), ["realm-sync.1", f"realm-token.{self.user.access_token()}"])

    def open(self, file: "SyncFile") -> None:
        self.last_channel += 1
        self.channels[self.last_channel] = file
        file.opened(self, self.last_channel)

    def send(self, channel: int, frame: bytes) -> None:
        try:
            self.socket.send(bytes(Writer().number(channel).data) + frame)
        except Closed:
            pass  # `poll` notices the error after it has read the earlier messages of the server

    def close_channel(self, channel: int) -> None:
        if file := self.channels.pop(channel, None):
            self.send(channel, b"")
            file.lost()

    def poll(self, timeout: float) -> bool:
        """Handles the next message. Returns False if none came, and raises `Closed` after the end of the WebSocket."""
        try:
            data = self.socket.receive(timeout)
            if data is None:
                return False
            r = Reader(data)
            channel = r.number()
            file = self.channels.get(channel)
            if file is None:
                return True  # the channel is closed already
            if r.left == 0:
                del self.channels[channel]
                file.lost()
                return True
            file.received(m.read(r.raw(r.left)))
            return True
        except Closed as closed:
            self.lost()
            if closed.code == 4001:
                self.user.refresh()
            elif closed.code == 4003:
                self.user.log_in()
            raise
        except Damaged:
            self.close()
            raise

    def lost(self) -> None:
        for file in self.channels.values():
            file.lost()
        self.channels = {}

    def close(self) -> None:
        self.socket.close()
        self.lost()

    def drop(self) -> None:
        self.socket.drop()
        self.lost()


@dataclass
class Pending:
    """A changeset of which the client does not know that the server has decided it."""
    changeset: Changeset
    base: int
    stamp: int
    query_set: int
    sequence: int = 0
    before: bytes = b""
    hash: bytes = b""
    replicas: list[int] | None = None
    content: bytes = b""

    def seal(self, sequence: int, before: bytes) -> None:
        """Fixes the content, which never changes from now on."""
        self.sequence, self.before = sequence, before
        self.replicas, self.content = write_changeset(self.changeset)
        self.hash = m.upload_hash(sequence, before, self.stamp, self.query_set, 0, self.replicas, self.content)

    def frame(self) -> bytes:
        assert self.replicas is not None
        return m.upload(self.sequence, self.before, self.base, self.stamp, self.query_set, 0, self.replicas, self.content)


class SyncFile:
    """A file of one replica."""

    def __init__(self, name: str) -> None:
        self.name = name
        # The data that a file keeps.
        self.replica: int | None = None
        self.version = self.tag = self.session = self.view = self.counter = self.last_stamp = 0
        self.clock_offset = 0
        self.last: m.Named | None = None
        self.decided = 0
        self.wanted, self.queries = 0, list[tuple[str, str]]()  # the newest query set
        self.query_sets: list[tuple[int, list[tuple[str, str]]]] = []  # the query sets that the server may not have
        self.pending: list[Pending] = []
        self.waiting: list[Changeset] = []  # the changesets to write again after a reset
        self.former: Objects | None = None  # the objects that the file showed before the reset
        self.base = Objects()
        self.refusals: list[m.Refusal] = []
        # The data of a session.
        self.connection: Connection | None = None
        self.channel = 0
        self.state = "closed"
        self.offered: int | None = None
        self.parts: list[m.Step] = []
        self.sent = self.sent_set = 0  # the last sequence and the last query set that were sent
        self.limits: m.Limits | None = None
        self.marks: dict[int, int | None] = {}
        self.wait_until = 0.0
        self.waits = 0
        self._shown: Objects | None = None
        self.figures = {"uploads": 0, "steps": 0, "resets": 0, "errors": 0, "refused": 0}

    # The operations of the app

    @property
    def objects(self) -> Objects:
        """The objects that the server has sent, with all pending changesets on top of them."""
        if self._shown is None:
            self._shown = self.base.copy()
            if self.former:
                self._shown.schema.update(self.former.schema)
            for changeset in [p.changeset for p in self.pending] + self.waiting:
                show(self._shown, changeset)
        return self._shown

    @property
    def is_even(self) -> bool:
        """Whether the server has all changesets of this file, and the view is the one that was asked for."""
        return not self.pending and not self.waiting and not self.query_sets

    def subscribe(self, queries: list[tuple[str, str]]) -> None:
        self.wanted, self.queries = self.wanted + 1, queries
        self.query_sets.append((self.wanted, queries))
        self._flush()

    def write(self, make: Callable[["Transaction"], None]) -> None:
        """Makes a transaction. Its changeset is pending at once, and is sent if there is a session."""
        transaction = Transaction(self)
        make(transaction)
        changeset = transaction.changeset
        if self.former:
            self.waiting.append(changeset)
            self._shown = None
        else:
            self._append(changeset)
        self._flush()

    def copied(self) -> "SyncFile":
        """A copy of the file, as a user might make it, without its session."""
        file = copy.copy(self)
        file.connection, file.state, file.parts = None, "closed", []
        return copy.deepcopy(file)

    def new_element(self) -> ElementId:
        self.counter += 1
        return (self.replica or OWN, self.counter)

    def ask_mark(self) -> int:
        request = len(self.marks) + 1
        self.marks[request] = None
        self._send(m.mark(request))
        return request

    def _append(self, changeset: Changeset) -> None:
        pending = Pending(changeset, self.version, self._stamp(), self.wanted)
        self.pending.append(pending)
        self._shown = None
        if self.replica:
            self._seal(pending)

    def _seal(self, pending: Pending) -> None:
        pending.seal(*(self.last[0] + 1, self.last[1]) if self.last else (1, b""))
        self.last = (pending.sequence, pending.hash)

    def _stamp(self) -> int:
        now = int(time.time() * 1000) + self.clock_offset
        self.last_stamp = max(now << 16, self.last_stamp + 1)
        return self.last_stamp

    # The session

    def opened(self, connection: Connection, channel: int) -> None:
        self.connection, self.channel, self.state = connection, channel, "hello"
        self.offered, self.parts, self.marks = None, [], {}
        self._send(m.hello(self.replica))

    def lost(self, wait: int = 0) -> None:
        """Notes that the channel or its connection has ended."""
        self.connection, self.state, self.parts = None, "closed", []
        first, longest = (self.limits.first_wait, self.limits.longest_wait) if self.limits else (1000, 300_000)
        wait = max(wait, min(first << min(self.waits, 20), longest))
        self.waits += 1
        self.wait_until = time.monotonic() + wait / 1000

    def received(self, message: Any) -> None:
        started = self.state == "started"
        if isinstance(message, m.ServerError):
            self._error(message)
        elif isinstance(message, m.Welcome) and (self.state == "hello" or started and message.reset):
            self._welcome(message)
        elif isinstance(message, m.Step) and started:
            self.parts.append(message)
            if message.is_last:
                parts, self.parts = self.parts, []
                self._step(parts)
        elif isinstance(message, m.QuerySetRefused) and started:
            self.refusals.append(m.Refusal((message.number, message.text), message.code))
            self.query_sets = [q for q in self.query_sets if q[0] != message.number]
        elif isinstance(message, m.MarkAnswer) and started:
            self.marks[message.request] = message.version
        elif not (isinstance(message, m.Skipped) and started):
            raise Damaged(f"{type(message).__name__} in the state {self.state}")

    def _send(self, frame: bytes) -> None:
        if self.connection:
            self.connection.send(self.channel, frame)

    def _error(self, error: m.ServerError) -> None:
        self.figures["errors"] += 1
        connection = self.connection
        self.lost(error.wait)
        if connection:
            connection.channels.pop(self.channel, None)
            if error.action == 2:
                connection.user.log_in()
        if error.action not in (1, 2, 4):
            raise Stopped(f"{self.name}: {error}")
        if error.action == 4:
            self.wait_until = 0.0  # the file connects again at once, and is reset

    def _welcome(self, w: m.Welcome) -> None:
        self.limits = w.limits
        self.clock_offset = w.time - int(time.time() * 1000)
        if (w.known is None) == (self.replica is not None) and not w.reset:
            raise Damaged("a welcome that does not fit the hello")
        if w.known is not None:
            self.offered = w.known
        elif w.registration:
            if w.reset:
                self._reset(w.registration.replica, *w.reset)
            self._register(w.registration)
        named = [(p.sequence, p.hash) for p in self.pending]
        least = min((p.base for p in self.pending), default=None)
        self._send(m.start(self.version, self.tag, self.session, self.view, self.wanted, self.last, named, least))
        self.state, self.sent, self.sent_set = "started", self.decided, 0
        self._flush()

    def _register(self, r: m.Registration) -> None:
        self.replica, self.version, self.tag, self.session = r.replica, r.version, r.tag, r.session
        self.view, self.decided, self.last, self.offered = 0, 0, None, None
        self.last_stamp = max(self.last_stamp, r.mark)
        for pending in self.pending:  # these were written before the file had a number
            pending.base, pending.stamp = self.version, self._stamp()
            pending.changeset = renamed(pending.changeset, lambda i: (r.replica, i[1]) if i[0] == OWN else i)
            self._seal(pending)
        self._shown = None

    def _reset(self, replica: int, integrated: list[m.Named], refusals: list[m.Refusal], doubt: bool) -> None:
        self.figures["resets"] += 1
        self.refusals += refusals
        self.former = self.former or self.objects
        self.waiting = [p.changeset for p in self.pending if (p.sequence, p.hash) not in integrated] + self.waiting
        self.pending = []
        self.base = Objects()
        self.query_sets = [(self.wanted, self.queries)] if self.wanted else []
        if doubt:
            # A copy of the file may have used the same ids, so new elements get other ids.
            new = {i.id if i.kind == INSERT else i.place
                   for c in self.waiting for _, all in c.objects for i in all if i.kind in (INSERT, MOVE)}
            self.waiting = [renamed(c, lambda i: (replica, i[1]) if i in new else i) for c in self.waiting]

    def _flush(self) -> None:
        """Sends what the server may lack, within its limits. A query set is sent before the changesets that name it, and
        after the changesets that do not."""
        if self.state != "started":
            return
        sets = [q for q in self.query_sets if q[0] > self.sent_set]
        under_way = sum(len(p.content) for p in self.pending if p.sequence <= self.sent)
        for pending in [p for p in self.pending if p.sequence > self.sent] + [None]:
            while sets and (pending is None or sets[0][0] <= pending.query_set):
                self.sent_set = sets[0][0]
                self._send(m.query_set(*sets.pop(0)))
            if pending is None or self.limits and under_way and under_way + len(pending.content) > self.limits.under_way:
                return
            under_way += len(pending.content)
            self.sent = pending.sequence
            self.figures["uploads"] += 1
            self._send(pending.frame())

    def _step(self, parts: list[m.Step]) -> None:
        step = parts[-1]
        end = (step.version, step.tag, step.query_set, step.mark)
        if any(p.before != self.version or (p.version, p.tag, p.query_set, p.mark) != end for p in parts):
            raise Damaged("a step that does not fit")
        if step.mark >> 16 > int(time.time() * 1000) + self.clock_offset + DAY:
            raise Damaged("a mark that lies too far ahead")
        own = {o.sequence: o for p in parts for o in p.own}
        mine = {p.sequence: p for p in self.pending}
        for o in own.values():
            if o.sequence in mine and mine[o.sequence].hash != o.hash:
                # A copy of this file has sent another changeset. The server notices this at the next start.
                if self.connection:
                    self.connection.close_channel(self.channel)
                return
        for part in parts:
            self._carry_out(part, mine)
        self.version, self.tag, self.view, self.decided = step.version, step.tag, step.query_set, step.last
        self.last_stamp = max(self.last_stamp, step.mark)
        if self.offered is not None:
            self.session, self.offered = self.offered, None
        self.pending = [p for p in self.pending if p.sequence not in own]
        self.query_sets = [q for q in self.query_sets if q[0] > self.view]
        refusals = [r for o in own.values() for r in o.refusals]
        self.refusals += refusals
        self.figures["refused"] += len(refusals)
        self.figures["steps"] += 1
        self.waits, self._shown = 0, None
        if self.former and not self.query_sets:
            self._write_again()
        self._flush()

    def _carry_out(self, step: m.Step, mine: dict[int, Pending]) -> None:
        self.base.add_schema(step.changeset)
        for (key, instructions), change in zip(step.changeset.objects, step.changes):
            if change.kind != 0:
                self.base.objects.pop(key, None)  # an object that was made and deleted within the step is not here
                self.base.apply(key, instructions, exact=True)
                continue
            for part in change.parts:
                if part.own is None:
                    self.base.apply(key, part.effects, exact=True)
                    continue
                if part.own not in mine:
                    raise Damaged(f"the changeset {part.own} is not pending")
                changeset = mine[part.own].changeset
                self.base.add_schema(changeset)
                for other, effects in changeset.objects:
                    if other == key:
                        self.base.apply(key, effects, exact=True)

    def _write_again(self) -> None:
        """Writes what was pending before a reset again, on top of what the server has now."""
        former, waiting = self.former, self.waiting
        self.former, self.waiting = None, []
        for changeset in waiting:
            again = Changeset(changeset.schema, [])
            for key, instructions in changeset.objects:
                again.objects.append((key, [self._placed(former, key, i) for i in instructions]))
            self._append(again)

    def _placed(self, former: Objects | None, key: Key, i: Instruction) -> Instruction:
        """The instruction with its left neighbour replaced, if that is gone, by the nearest element to its left that still exists."""
        if i.kind not in (INSERT, MOVE) or i.path is None or former is None:
            return i
        old, new = (list_at(objects, key, i.path) for objects in (former, self.objects))
        left = i.left
        while old and new and left != NO_ELEMENT and new.find(left) < 0 and (at := old.find(left)) >= 0:
            left = old.elements[at - 1][0] if at else NO_ELEMENT
        return i._replace(left=left)


def show(objects: Objects, changeset: Changeset) -> None:
    objects.add_schema(changeset)
    for key, instructions in changeset.objects:
        objects.apply(key, instructions, exact=False)


def list_at(objects: Objects, key: Key, path: Path) -> ListOf | None:
    try:
        node = node_at(*objects.walk(objects.objects[key], path))
    except (KeyError, NotThere):
        return None
    return node if isinstance(node, ListOf) else None


def renamed(changeset: Changeset, name: Callable[[ElementId], ElementId]) -> Changeset:
    """The changeset with other ids of elements."""
    def path(p: Path) -> Path:
        return Path(p.property, tuple((kind, name(step) if kind == 3 else step) for kind, step in p.steps))

    def instruction(i: Instruction) -> Instruction:
        return i._replace(path=i.path and path(i.path), id=name(i.id), place=name(i.place), left=name(i.left), right=name(i.right))
    return Changeset(changeset.schema, [(key, [instruction(i) for i in all]) for key, all in changeset.objects])


class Transaction:
    """A transaction that writes instructions, and shows at once what they do."""

    def __init__(self, file: SyncFile) -> None:
        self.file = file
        self.objects = file.objects.copy()
        self.changeset = Changeset()

    def add_class(self, name: str, key: Definition | None, properties: list[Definition]) -> None:
        schema = [(name, key, True)] + [(name, p, False) for p in properties]
        self.changeset.schema += schema
        self.objects.add_schema(Changeset(schema, []))

    def write(self, key: Key, *instructions: Instruction) -> None:
        for other, all in self.changeset.objects:
            if other == key:
                all += instructions
                break
        else:
            self.changeset.objects.append((key, list(instructions)))
        self.objects.apply(key, list(instructions), exact=True)

    def insert(self, key: Key, path: Path, at: int, values: list[Value]) -> None:
        for value in values:
            left, right = self.neighbours(key, path, at)
            self.write(key, Instruction(INSERT, path, value, self.file.new_element(), left=left, right=right))
            at += 1

    def move(self, key: Key, path: Path, start: int, end: int) -> None:
        """Moves an element to the place with `end` elements before it."""
        node = list_at(self.objects, key, path)
        assert node
        others = [e[0] for i, e in enumerate(node.elements) if i != start]
        left, right = others[end - 1] if end else NO_ELEMENT, others[end] if end < len(others) else NO_ELEMENT
        self.write(key, Instruction(MOVE, path, None, node.elements[start][0], self.file.new_element(), left, right))

    def neighbours(self, key: Key, path: Path, at: int) -> tuple[ElementId, ElementId]:
        node = list_at(self.objects, key, path)
        assert node
        ids = [e[0] for e in node.elements]
        return ids[at - 1] if at else NO_ELEMENT, ids[at] if at < len(ids) else NO_ELEMENT
