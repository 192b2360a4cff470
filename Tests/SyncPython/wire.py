"""The bytes of numbers, values and changesets, as docs/sync-protocol.md and FORMAT.md describe them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, TypeVar

T = TypeVar("T")

# A value is a pair of its type (the first byte, 0 for null) and its content: (5, -2), (8, "a"), (0, None).
# A link is (33, (class, primary key)).
Value = tuple[int, Any]
NULL: Value = (0, None)
NOTHING: Value = (32, None)
# The id of a list's element is a pair: the number of the replica that made it, and a counter.
ElementId = tuple[int, int]
NO_ELEMENT: ElementId = (0, 0)

# The instructions of a changeset, by their numbers in FORMAT.md.
CREATE, DELETE, SET, SET_DEFAULT, ADD, MAKE, REMOVE, INSERT, INSERT_MANY, MOVE, ERASE, SET_ADD, SET_TAKE, EMPTY, SEND = range(1, 16)
OBJECT, ADD_TABLE, ADD_PROPERTY = 16, 17, 18


class Damaged(Exception):
    """A message that breaks a rule of the document."""


class Definition(NamedTuple):
    name: str
    type: int
    collection: int = 0  # 0 for no collection, 1 list, 2 map, 3 set
    optional: bool = False
    target: str | None = None


class Path(NamedTuple):
    property: str
    # A step is (1, property), (2, key), (3, id) or (4, (kind, sequence)).
    steps: tuple[tuple[int, Any], ...] = ()


class Instruction(NamedTuple):
    kind: int
    path: Path | None = None
    value: Any = None  # a value, the number that is added, the kind of a collection, or the content that is sent
    id: ElementId = NO_ELEMENT
    place: ElementId = NO_ELEMENT  # the place that a move makes
    left: ElementId = NO_ELEMENT
    right: ElementId = NO_ELEMENT


@dataclass
class Changeset:
    schema: list[tuple[str, Definition | None, bool]] = field(default_factory=list)  # the bool is true for a table
    objects: list[tuple[tuple[str, Value], list[Instruction]]] = field(default_factory=list)


class Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, n: int) -> "Writer":
        while n > 127:
            self.data.append(n & 127 | 128)
            n >>= 7
        self.data.append(n)
        return self

    def signed(self, n: int) -> "Writer":
        return self.number(n << 1 if n >= 0 else (-n << 1) - 1)

    def bytes(self, b: bytes) -> "Writer":
        self.number(len(b)).data.extend(b)
        return self

    def text(self, s: str) -> "Writer":
        return self.bytes(s.encode())

    def raw(self, b: bytes) -> "Writer":
        self.data.extend(b)
        return self

    def stamp(self, n: int) -> "Writer":
        return self.raw(struct.pack("<Q", n))

    def list(self, parts: list[T], write: Callable[[T], object]) -> "Writer":
        self.number(len(parts))
        for part in parts:
            write(part)
        return self

    def optional(self, part: T | None, write: Callable[[T], object]) -> "Writer":
        self.number(0 if part is None else 1)
        if part is not None:
            write(part)
        return self


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def raw(self, count: int) -> bytes:
        if count > self.left:
            raise Damaged("ends early")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self, limit: int = 255) -> int:
        b = self.raw(1)[0]
        if b > limit:
            raise Damaged(f"the byte {b}, not up to {limit}")
        return b

    def number(self, bits: int = 64) -> int:
        n = shift = 0
        while True:
            b = self.byte()
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                if n >> bits:
                    raise Damaged("a number is too large")
                return n
            if shift > 63:
                raise Damaged("a number is too long")

    def signed(self) -> int:
        n = self.number()
        return n >> 1 if n & 1 == 0 else -(n >> 1) - 1

    def bytes(self) -> bytes:
        return self.raw(self.number())

    def text(self) -> str:
        try:
            return self.bytes().decode()
        except UnicodeDecodeError as error:
            raise Damaged("no UTF-8") from error

    def hash(self) -> bytes:
        h = self.bytes()
        if len(h) != 32:
            raise Damaged("a hash of another length")
        return h

    def stamp(self) -> int:
        return struct.unpack("<Q", self.raw(8))[0]

    def count(self) -> int:
        n = self.number()
        if n > self.left:
            raise Damaged("a count is too large")
        return n

    def list(self, read: Callable[[], T]) -> list[T]:
        return [read() for _ in range(self.count())]

    def optional(self, read: Callable[[], T]) -> T | None:
        return read() if self.byte(1) else None

    def end(self) -> None:
        """Skips the optional fields at the end of a message. No such field is known yet."""
        tag = 0
        while self.left:
            former, tag = tag, self.number()
            if tag <= former:
                raise Damaged("optional fields in a wrong order")
            self.bytes()


# Mixed values. `name` turns the name of a class into a number and back. Without it there can be no links.

def write_value(w: Writer, value: Value, name: Callable[[str], int] | None = None) -> None:
    kind, v = value
    w.raw(bytes([kind]))
    if kind == 1:
        w.raw(bytes([v]))
    elif kind == 5:
        w.signed(v)
    elif kind in (6, 7):
        w.raw(struct.pack("<f" if kind == 6 else "<d", v))
    elif kind == 8:
        w.text(v)
    elif kind == 9:
        w.bytes(v)
    elif kind == 10:
        w.signed(v[0]).number(v[1])
    elif kind in (11, 12, 13):
        w.raw(v)
    elif name and kind == 33:
        w.number(name(v[0]))
        write_value(w, v[1])
    elif name and kind == 34:
        w.number(v)
    elif name and kind in (35, 36):
        w.raw(v[0]).number(v[1])
    elif name and kind == 37:
        w.list(list(v), lambda part: write_value(w, part, name))
    elif name and kind == 38:
        w.list(list(v), lambda entry: write_value(w.text(entry[0]), entry[1], name))
    elif kind != 0 and not (name and kind in (32, 39)):
        raise ValueError(f"no value of type {kind} can stand here")


def read_value(r: Reader, name: Callable[[], str] | None = None, depth: int = 0) -> Value:
    kind = r.byte()
    if kind == 0 or (name and not depth and kind in (32, 39)):
        return (kind, None)
    if kind == 1:
        return (1, r.byte(1) == 1)
    if kind == 5:
        return (5, r.signed())
    if kind in (6, 7):
        return (kind, struct.unpack("<f" if kind == 6 else "<d", r.raw(4 if kind == 6 else 8))[0])
    if kind == 8:
        return (8, r.text())
    if kind == 9:
        return (9, r.bytes())
    if kind == 10:
        return (10, (r.signed(), r.number(30)))
    if kind in (11, 12, 13):
        return (kind, r.raw(12 if kind == 11 else 16))
    if name and depth <= 100:
        if kind == 33:
            return (33, (name(), read_value(r)))
        if kind == 34 and not depth:
            return (34, r.byte(3))
        if kind in (35, 36):
            return (kind, (r.raw(32), r.number()))
        if kind == 37:
            return (37, tuple(r.list(lambda: read_value(r, name, depth + 1))))
        if kind == 38:
            return (38, tuple(r.list(lambda: (r.text(), read_value(r, name, depth + 1)))))
    raise Damaged(f"a value of type {kind}")


# Changesets

def write_changeset(changeset: Changeset) -> tuple[list[int], bytes]:
    """The list of replicas and the bytes, in the canonical form."""
    names: dict[str, int] = {}
    replicas: dict[int, int] = {0: 0}
    w = Writer()

    def name(text: str) -> int:
        return names.setdefault(text, len(names))

    def element(w: Writer, i: ElementId) -> None:
        w.number(replicas.setdefault(i[0], len(replicas))).number(i[1])

    def definition(d: Definition) -> None:
        w.number(name(d.name)).raw(bytes([d.type, d.collection, d.optional | (d.target is not None) << 1]))
        if d.target is not None:
            w.number(name(d.target))

    def path(p: Path) -> None:
        w.number(name(p.property)).number(len(p.steps))
        for kind, step in p.steps:
            w.number(kind)
            if kind == 1:
                w.number(name(step))
            elif kind == 2:
                w.text(step)
            elif kind == 3:
                element(w, step)
            else:
                w.number(step[0]).number(step[1])

    for table, d, is_table in changeset.schema:
        w.number(ADD_TABLE if is_table else ADD_PROPERTY).number(name(table))
        if is_table:
            w.optional(d, definition)
        elif d:
            definition(d)
    for (table, key), instructions in changeset.objects:
        w.number(OBJECT).number(name(table))
        write_value(w, key)
        at = 0
        while at < len(instructions):
            i = instructions[at]
            at += 1
            if i.kind == INSERT:
                # Insertions one after another are one item.
                values, last = [i.value], i
                while at < len(instructions) and joins(last, instructions[at]):
                    last = instructions[at]
                    values.append(last.value)
                    at += 1
                body = Writer()
                for value in values:
                    write_value(body, value, name)
                w.number(INSERT if len(values) == 1 else INSERT_MANY)
                path(i.path)
                for part in (i.id, i.left, i.right):
                    element(w, part)
                if len(values) > 1:
                    w.number(len(values))
                w.raw(bytes(body.data))
                continue
            w.number(i.kind)
            if i.kind == SEND:
                w.list(i.value, lambda pair: write_value(w.number(name(pair[0])), pair[1], name))
                continue
            if i.path:
                path(i.path)
            if i.kind in (SET, SET_DEFAULT, SET_ADD, SET_TAKE):
                write_value(w, i.value, name)
            elif i.kind == ADD:
                w.signed(i.value)
            elif i.kind == EMPTY:
                w.number(i.value)
            elif i.kind in (MOVE, ERASE):
                for part in (i.id, i.place, i.left, i.right) if i.kind == MOVE else (i.id,):
                    element(w, part)
    head = Writer()
    head.list(list(names), head.text)
    return list(replicas), bytes(head.data + w.data) + b"\0"


def joins(a: Instruction, b: Instruction) -> bool:
    return (b.kind == INSERT and (b.path, b.right, b.left) == (a.path, a.right, a.id)
            and b.id == (a.id[0], a.id[1] + 1))


def read_changeset(data: bytes, replicas: list[int]) -> Changeset:
    r = Reader(data)
    names = r.list(r.text)
    result = Changeset()

    def name() -> str:
        place = r.number()
        if place >= len(names):
            raise Damaged("a name that is not there")
        return names[place]

    def element() -> ElementId:
        return read_element(r, replicas)

    def definition() -> Definition:
        n, kind, collection, flags = name(), r.byte(), r.byte(3), r.byte(3)
        return Definition(n, kind, collection, flags & 1 == 1, name() if flags & 2 else None)

    def step() -> tuple[int, Any]:
        kind = r.byte(4)
        if kind == 0:
            raise Damaged("a step of kind 0")
        return kind, name() if kind == 1 else r.text() if kind == 2 else element() if kind == 3 else (r.byte(3), r.number())

    def path() -> Path:
        return Path(name(), tuple(r.list(step)))

    while kind := r.byte():
        if kind == OBJECT:
            result.objects.append(((name(), read_value(r)), []))
            continue
        if kind == ADD_TABLE:
            result.schema.append((name(), r.optional(definition), True))
            continue
        if kind == ADD_PROPERTY:
            result.schema.append((name(), definition(), False))
            continue
        if kind > SEND or not result.objects:
            raise Damaged(f"an item of kind {kind}")
        out = result.objects[-1][1]
        if kind in (CREATE, DELETE):
            out.append(Instruction(kind))
        elif kind in (SET, SET_DEFAULT, SET_ADD, SET_TAKE):
            out.append(Instruction(kind, path(), read_value(r, name)))
        elif kind == ADD:
            out.append(Instruction(kind, path(), r.signed()))
        elif kind in (MAKE, REMOVE):
            out.append(Instruction(kind, path()))
        elif kind in (INSERT, INSERT_MANY):
            p, i, before, behind = path(), element(), element(), element()
            for _ in range(1 if kind == INSERT else r.count()):
                out.append(Instruction(INSERT, p, read_value(r, name), i, NO_ELEMENT, before, behind))
                before, i = i, (i[0], i[1] + 1)
        elif kind == MOVE:
            p, i, place, before, behind = path(), element(), element(), element(), element()
            out.append(Instruction(kind, p, None, i, place, before, behind))
        elif kind == ERASE:
            out.append(Instruction(kind, path(), None, element()))
        elif kind == EMPTY:
            out.append(Instruction(kind, path(), r.byte(3)))
        else:
            out.append(Instruction(kind, None, tuple(r.list(lambda: (name(), read_value(r, name))))))
    if r.left:
        raise Damaged("something follows the changeset")
    return result


def read_element(r: Reader, replicas: list[int]) -> ElementId:
    place, counter = r.number(32), r.number(32)
    if place >= len(replicas):
        raise Damaged("a replica that is not there")
    return replicas[place], counter
