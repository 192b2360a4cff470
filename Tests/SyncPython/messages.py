"""The messages of docs/sync-protocol.md for a client, which writes its own messages and reads those of the server."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any, NamedTuple

from wire import INSERT, MOVE, Changeset, Damaged, Instruction, Reader, Value, Writer, read_changeset, read_value, write_value

HELLO, WELCOME, START, QUERY_SET, QUERY_SET_REFUSED, UPLOAD, STEP, CHUNK, MARK_REQUEST, MARK_ANSWER, ERROR = range(2, 24, 2)
RETIRE, RETIRED = 23, 25  # may be skipped
LONGEST_BODY = 32 << 20
COMPRESSED_FROM = 256

Hash = bytes
Named = tuple[int, Hash]  # a sequence, and the hash of the changeset


class Limits(NamedTuple):
    changeset: int
    value: int
    queries: int
    under_way: int
    first_wait: int
    longest_wait: int


class Registration(NamedTuple):
    replica: int
    version: int
    tag: int
    mark: int
    session: int


class Refusal(NamedTuple):
    subject: Any  # (class, primary key), a class, or (class, property)
    reason: int


class Welcome(NamedTuple):
    version: int
    capabilities: list[str]
    time: int
    limits: Limits
    known: int | None  # the session number that is offered
    registration: Registration | None
    reset: tuple[list[Named], list[Refusal], bool] | None


class QuerySetRefused(NamedTuple):
    number: int
    code: int
    text: str


class Own(NamedTuple):
    sequence: int
    version: int
    stamp: int
    hash: Hash
    refusals: list[Refusal]


class Part(NamedTuple):
    """The effects of one changeset on an object, or the sequence of an own changeset that has these effects."""
    own: int | None
    effects: list[Instruction]


class Change(NamedTuple):
    kind: int  # 0 effects, 1 the whole object, 2 the object left the view, 3 it was deleted
    parts: list[Part]


class Step(NamedTuple):
    before: int
    version: int
    tag: int
    query_set: int
    mark: int
    last: int
    is_last: bool
    partition: Value | None
    own: list[Own]
    changeset: Changeset
    deciding: list[tuple[int, int, int]]
    changes: list[Change]


class MarkAnswer(NamedTuple):
    request: int
    version: int


class Retired(NamedTuple):
    replica: int


class ServerError(NamedTuple):
    code: int
    text: str
    action: int
    wait: int


class Skipped(NamedTuple):
    number: int


# Messages that a client writes

def hello(replica: int | None, oldest: int = 1, newest: int = 1, capabilities: list[str] = [], partition: Value | None = None) -> bytes:
    w = Writer().number(HELLO).number(oldest).number(newest)
    w.list(capabilities, w.text).optional(replica, w.number).optional(partition, lambda v: write_value(w, v))
    return bytes(w.data)


def start(version: int, tag: int, session: int, query_set: int, wanted: int, last: Named | None,
          pending: list[Named], least_base: int | None) -> bytes:
    w = Writer().number(START)

    def named(n: Named) -> None:
        w.number(n[0]).bytes(n[1])

    for n in (version, tag, session, query_set, wanted):
        w.number(n)
    w.optional(last, named).list(pending, named).optional(least_base, w.number)
    return bytes(w.data)


def query_set(number: int, queries: list[tuple[str, str]]) -> bytes:
    w = Writer().number(QUERY_SET).number(number)
    w.list(queries, lambda query: w.text(query[0]).text(query[1]))
    return bytes(w.data)


def upload_hash(sequence: int, before: Hash, stamp: int, query_set: int, flags: int, replicas: list[int], content: bytes) -> Hash:
    w = Writer().bytes(before).number(sequence).stamp(stamp).number(query_set).raw(bytes([flags]))
    w.list(replicas, w.number).bytes(content)
    return hashlib.blake2b(w.data, digest_size=32).digest()


def upload(sequence: int, before: Hash, base: int, stamp: int, query_set: int, flags: int, replicas: list[int],
           content: bytes, compress: bool = True) -> bytes:
    w = Writer().number(sequence).bytes(before).number(base).stamp(stamp).number(query_set).raw(bytes([flags]))
    w.list(replicas, w.number).bytes(content)
    body = bytes(w.data)
    head = Writer().number(UPLOAD)
    if compress and len(body) > COMPRESSED_FROM and len(small := zlib.compress(body)) < len(body):
        return bytes(head.number(len(body)).data) + small
    return bytes(head.number(0).data) + body


def mark(request: int) -> bytes:
    return bytes(Writer().number(MARK_REQUEST).number(request).data)


def retire(replica: int) -> bytes:
    return bytes(Writer().number(RETIRE).number(replica).data)


# Messages that a server writes

def read(frame: bytes) -> Any:
    """Reads a message of the server. The result is `Skipped` for an unknown message that may be skipped."""
    r = Reader(frame)
    number = r.number()
    if number == WELCOME:
        message: Any = _welcome(r)
    elif number == QUERY_SET_REFUSED:
        message = QuerySetRefused(r.number(), r.number(32), r.text())
    elif number == STEP:
        length = r.number()
        if length:
            r = Reader(_expanded(r.raw(r.left), length))
        message = _step(r)
    elif number == MARK_ANSWER:
        message = MarkAnswer(r.number(), r.number())
    elif number == RETIRED:
        message = Retired(r.number())
    elif number == ERROR:
        message = ServerError(r.number(32), r.text(), r.byte(), r.number(32))
    elif number & 1 or number == CHUNK:
        return Skipped(number)
    else:
        raise Damaged(f"the message {number} is not known")
    r.end()
    return message


def _expanded(data: bytes, length: int) -> bytes:
    if length > LONGEST_BODY:
        raise Damaged("a body is too long")
    z = zlib.decompressobj()
    try:
        body = z.decompress(data, length)
        # All bytes may be expanded before the end of the stream was read.
        rest = z.decompress(z.unconsumed_tail, 1)
    except zlib.error as error:
        raise Damaged(str(error)) from error
    if len(body) != length or rest or not z.eof or z.unused_data:
        raise Damaged("a body has another length than it says")
    return body


def _welcome(r: Reader) -> Welcome:
    version, capabilities, time = r.number(32), r.list(r.text), r.number()
    limits = Limits(r.number(), r.number(), r.number(32), r.number(), r.number(32), r.number(32))
    answer = r.byte(2)
    if answer == 0:
        return Welcome(version, capabilities, time, limits, r.number(), None, None)
    registration = Registration(r.number(), r.number(), r.number(), r.stamp(), r.number())
    reset = None
    if answer == 2:
        reset = r.list(lambda: (r.number(), r.hash())), r.list(lambda: _refusal(r)), r.byte(1) == 1
    return Welcome(version, capabilities, time, limits, None, registration, reset)


def _refusal(r: Reader) -> Refusal:
    kind = r.byte(2)
    subject: Any = r.text()
    if kind == 0:
        subject = (subject, read_value(r))
    elif kind == 2:
        subject = (subject, r.text())
    return Refusal(subject, r.byte())


def _step(r: Reader) -> Step:
    before, version, tag, query_set, mark, last = r.number(), r.number(), r.number(), r.number(), r.stamp(), r.number()
    flags = r.byte(3)
    partition = read_value(r) if flags & 2 else None
    r.number(), r.number()  # the amount that is still to come
    own = r.list(lambda: Own(r.number(), r.number(), r.stamp(), r.hash(), r.list(lambda: _refusal(r))))
    replicas = r.list(r.number)
    changeset = read_changeset(r.bytes(), replicas)
    deciding = r.list(lambda: (r.number(), r.stamp(), r.number(32)))
    changes = [_change(r, instructions) for _, instructions in changeset.objects]
    return Step(before, version, tag, query_set, mark, last, flags & 1 == 1, partition, own, changeset, deciding, changes)


def _change(r: Reader, instructions: list[Instruction]) -> Change:
    kind = r.byte(3)
    if kind == 3:
        r.number()
    parts: list[Part] = []
    if kind == 0:
        at = 0
        for _ in range(r.count()):
            if r.number() == 0:
                parts.append(Part(r.number(), []))
                continue
            count = r.number()
            if at + count > len(instructions):
                raise Damaged("a part has more instructions than the object")
            part = instructions[at:at + count]
            at += count
            parts.append(Part(None, [i for i in part if i.kind not in (INSERT, MOVE) or _moves(r, i)]))
        if at != len(instructions):
            raise Damaged("instructions that belong to no part")
    elif kind != 1 and instructions:
        raise Damaged("an object that is gone has instructions")
    return Change(kind, parts)


def _moves(r: Reader, i: Instruction) -> bool:
    """Reads an order, and returns whether a move still has an effect. Only a program that merges like the server needs the ids in an order."""
    flags = r.byte(63)
    if flags & 1 and flags != 1:
        raise Damaged("an order that is none")
    for bit in (2, 4, 8):
        if flags & bit:
            r.number(32), r.number(32)  # an id
    if flags & 32 and i.kind == INSERT:
        raise Damaged("an insertion without effect")
    return flags & 32 == 0
