"""Makes random operations on three files against a server, and checks that all of them agree in the end.

    python3 run.py SERVER [--seed N] [--operations N] [--trace]

Two files belong to one user and share a WebSocket; the third belongs to another user. They go offline, write
meanwhile, and come back. Twice a file is replaced by an older copy of itself, so that the server resets it. Once the
server stops or is killed, and starts again. The whole run must end in less than half a minute.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
from typing import Any, Callable

sys.dont_write_bytecode = True

from login import User
from objects import ListOf
from sync_client import Connection, SyncFile, Transaction
from websocket import Closed
from wire import (ADD, CREATE, DELETE, EMPTY, ERASE, MAKE, NOTHING, NULL, REMOVE, SET, SET_ADD, SET_TAKE, Definition, Instruction, Path)

BOOL, INT, DOUBLE, STRING, LINK, MIXED = 1, 5, 7, 8, 14, 15
LIST, MAP, SET_OF = 1, 2, 3
TIME_LIMIT = 24
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "rowan"]


class GivenUp(BaseException):
    """The time is over, or a user stopped the program. No code between here and the main program catches this error."""


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """A new server process in a temporary folder."""

    def __init__(self, binary: str) -> None:
        self.binary = binary
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sync-python-"))
        self.port, self.monitor = free_ports(2)
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = open(self.folder / "log", "wb")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [self.binary, "--data", str(self.folder / "data"), "--dev", "--port", str(self.port),
                   "--monitor-port", str(self.monitor), "--come-back", "1"]
        environment = dict(os.environ)
        environment.setdefault("LD_LIBRARY_PATH", "/opt/swift/usr/lib/swift/linux")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
        until = time.monotonic() + 8
        while not self.answers(f"http://127.0.0.1:{self.monitor}/health"):
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the server does not start:\n" + self.tail())
            time.sleep(0.05)

    def answers(self, address: str) -> bool:
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def tail(self) -> str:
        return "\n".join((self.folder / "log").read_text(errors="replace").splitlines()[-15:])

    def end(self, kill: bool = False) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
            try:
                self.process.wait(4)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def stop(self) -> None:
        self.end()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Device:
    """The WebSocket of a user with its files."""

    def __init__(self, user: User, files: list[SyncFile]) -> None:
        self.user, self.files = user, files
        self.connection: Connection | None = None
        self.online = True

    def poll(self, timeout: float) -> bool:
        """Keeps the files connected while the device is online, and handles one message."""
        now = time.monotonic()
        ready = [file for file in self.files if file.state == "closed" and now >= file.wait_until]
        if not self.online or self.connection is None and not ready:
            return False
        try:
            if self.connection is None:
                self.connection = Connection(self.user)
            for file in ready:
                self.connection.open(file)
            return self.connection.poll(timeout)
        except Closed:
            self.connection = None
        except OSError:  # the server does not listen
            for file in ready:
                file.lost()
        return False

    def go_offline(self, how: str) -> None:
        if self.connection:
            if how == "drop":
                self.connection.drop()
            else:
                self.connection.close()
        self.connection, self.online = None, False

    def go_online(self) -> None:
        self.online = True
        for file in self.files:
            file.wait_until, file.waits = 0.0, 0  # the app asked to connect now


def make_schema(t: Transaction) -> None:
    t.add_class("Detail", None, [Definition("text", STRING), Definition("amount", INT)])
    t.add_class("Item", Definition("id", INT), [
        Definition("name", STRING), Definition("count", INT), Definition("rank", INT, optional=True), Definition("tags", STRING, LIST),
        Definition("labels", STRING, SET_OF), Definition("notes", STRING, MAP), Definition("any", MIXED, optional=True),
        Definition("friend", LINK, optional=True, target="Item"), Definition("friends", LINK, LIST, target="Item"),
        Definition("detail", LINK, optional=True, target="Detail")])


class Script:
    def __init__(self, r: random.Random) -> None:
        self.r = r

    def word(self) -> tuple[int, str]:
        return (STRING, f"{self.r.choice(WORDS)} {self.r.randrange(1000)}")

    def link(self) -> tuple[int, Any]:
        return (33, ("Item", (INT, self.r.randrange(1, 16))))

    def transaction(self, t: Transaction) -> None:
        for _ in range(self.r.choice([1, 1, 1, 2, 3])):
            self.operation(t)

    def operation(self, t: Transaction) -> None:
        r = self.r
        items = sorted(t.objects.objects, key=repr)
        if not items or r.random() < 0.2:
            key = ("Item", (INT, r.randrange(1, 16)))
            if key not in t.objects.objects:
                t.write(key, Instruction(CREATE), Instruction(SET, Path("name"), self.word()))
                t.insert(key, Path("tags"), 0, [self.word() for _ in range(r.randrange(3))])
                return
        key = r.choice(items)
        fields = t.objects.objects[key]
        kind = r.choice(["name", "count", "add", "rank", "insert", "insert", "insert", "erase", "move", "element", "clear", "label", "note",
                         "friend", "friends", "detail", "any", "delete"])
        if kind in ("name", "count", "rank", "any", "friend"):
            value = {"name": self.word(), "count": (INT, r.randrange(100)), "rank": r.choice([NULL, (INT, r.randrange(9))]),
                     "any": r.choice([NULL, self.word(), (DOUBLE, 0.5), (37, ((BOOL, True), (38, (("a", (INT, 1)),))))]),
                     "friend": r.choice([NULL, self.link()])}[kind]
            t.write(key, Instruction(SET, Path(kind), value))
        elif kind == "add":
            t.write(key, Instruction(ADD, Path(r.choice(["count", "rank"])), r.randrange(-5, 20)))
        elif kind in ("insert", "friends"):
            path = Path("tags" if kind == "insert" else "friends")
            length = len(fields[path.property].elements)
            t.insert(key, path, r.randrange(length + 1), [self.word() if kind == "insert" else self.link() for _ in range(r.choice([1, 1, 3]))])
        elif kind in ("erase", "move", "element"):
            path = Path(r.choice(["tags", "tags", "friends"]))
            tags: ListOf = fields[path.property]
            if not tags.elements:
                return
            at = r.randrange(len(tags.elements))
            if kind == "erase":
                t.write(key, Instruction(ERASE, path, None, tags.elements[at][0]))
            elif kind == "move":
                t.move(key, path, at, r.randrange(len(tags.elements)))
            else:
                value = self.word() if path.property == "tags" else self.link()
                t.write(key, Instruction(SET, Path(path.property, ((3, tags.elements[at][0]),)), value))
        elif kind == "clear":
            name, collection = r.choice([("tags", LIST), ("labels", SET_OF), ("notes", MAP)])
            t.write(key, Instruction(EMPTY, Path(name), collection))
        elif kind == "label":
            t.write(key, Instruction(r.choice([SET_ADD, SET_ADD, SET_TAKE]), Path("labels"), (STRING, r.choice(WORDS))))
        elif kind == "note":
            t.write(key, Instruction(SET, Path("notes", ((2, r.choice(WORDS[:4])),)), r.choice([NOTHING, self.word(), self.word()])))
        elif kind == "detail":
            if fields["detail"] == NULL:
                t.write(key, Instruction(MAKE, Path("detail")), Instruction(SET, Path("detail", ((1, "text"),)), self.word()))
            else:
                t.write(key, r.choice([Instruction(ADD, Path("detail", ((1, "amount"),)), 1), Instruction(REMOVE, Path("detail")),
                                       Instruction(SET, Path("detail", ((1, "text"),)), self.word())]))
        else:
            t.write(key, Instruction(DELETE))


def wait_for(devices: list[Device], done: Callable[[], bool]) -> None:
    while not done():
        if not any([device.poll(0.002) for device in devices]):
            time.sleep(0.002)


def all_up_to_date(devices: list[Device]) -> None:
    """Waits until no file has pending changesets and each file has what the server has."""
    files = [file for device in devices for file in device.files]
    wait_for(devices, lambda: all(f.state == "started" and f.is_even for f in files))
    asked = [(file, file.ask_mark()) for file in files]

    def done() -> bool:
        ends = [file.marks.get(request) for file, request in asked]
        return all(end is not None and file.version >= end for (file, _), end in zip(asked, ends))
    wait_for(devices, done)


def run(server: Server, devices: list[Device], seed: int, operations: int, trace: bool) -> bool:
    r = random.Random(seed)
    script = Script(r)
    files = [file for device in devices for file in device.files]
    for file in files:
        file.subscribe([("Item", "")])
        file.write(make_schema)  # all three files make the same classes before their first connection
    old = files[0]
    disconnects = restored = 0
    for n in range(operations):
        device = r.choice(devices)
        event = r.random()
        if event < 0.06 and device.online:
            disconnects += 1
            device.go_offline(r.choice(["drop", "close"]))
        elif event < 0.08 and device.connection:
            file = r.choice(device.files)
            if file.state != "closed":
                disconnects += 1
                device.connection.close_channel(file.channel)
                file.wait_until = 0.0
        elif event < 0.2 and not device.online:
            device.go_online()
        at = r.randrange(len(device.files))
        file = device.files[at]
        if n in (operations // 4, operations // 2):
            old = file.copied()
        elif n in (operations // 4 + 15, operations // 2 + 25):
            at, device = next((i, d) for d in devices for i, f in enumerate(d.files) if f.name == old.name)
            former = device.files[at]
            if device.connection and former.state != "closed":
                device.connection.close_channel(former.channel)
            old.figures, old.wait_until = former.figures, 0.0
            device.files[at] = file = old
            restored += 1
        if n == operations * 7 // 8:
            server.end(kill=r.random() < 0.5)
            server.start()
        file.write(script.transaction)
        for _ in range(r.randrange(4)):
            for other in devices:
                other.poll(r.choice([0, 0.001, 0.01]))
        if trace:
            print(n, file.name, file.state, "version", file.version, "pending", len(file.pending), file.figures, file=sys.stderr)
    for device in devices:
        device.go_online()
    fresh = SyncFile("fresh")
    fresh.subscribe([("Item", "")])
    all_up_to_date(devices)
    devices.append(Device(User(server.address, "dev"), [fresh]))
    all_up_to_date(devices)
    files = [file for device in devices for file in device.files]
    expected = fresh.base.shown(ids=True)
    equal = True
    for file in files:
        if (got := file.objects.shown(ids=True)) != expected:
            equal = False
            for key in sorted(set(got) | set(expected), key=repr):
                if got.get(key) != expected.get(key):
                    print(f"{file.name} differs in {key}:\n  has    {got.get(key)}\n  fresh  {expected.get(key)}", file=sys.stderr)
    sums = {name: sum(file.figures[name] for file in files) for name in fresh.figures}
    print(f"seed={seed} operations={operations} uploads={sums['uploads']} steps={sums['steps']} disconnects={disconnects} "
          f"restored={restored} resets={sums['resets']} refused={sums['refused']} errors={sums['errors']} objects={len(expected)} "
          f"equal={'yes' if equal else 'no'}")
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description="Three files, random operations, and whether all agree in the end.")
    parser.add_argument("server", help="the path of realm-server")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--operations", type=int, default=200)
    parser.add_argument("--trace", action="store_true", help="tells each operation")
    arguments = parser.parse_args()
    server = Server(arguments.server)
    devices: list[Device] = []

    def give_up(signal_number: int, _: Any) -> None:
        raise GivenUp("too slow" if signal_number == signal.SIGALRM else "stopped")
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, give_up)
    signal.alarm(TIME_LIMIT)
    try:
        server.start()
        devices += [Device(User(server.address, "dev"), [SyncFile(name) for name in names]) for names in ("ab", "c")]
        return 0 if run(server, devices, arguments.seed, arguments.operations, arguments.trace) else 1
    except (Exception, GivenUp) as error:
        print(f"seed={arguments.seed} failed: {type(error).__name__}: {error}", file=sys.stderr)
        for file in (file for device in devices for file in device.files):
            print(f"{file.name}: {file.state}, version {file.version}, pending {len(file.pending)}, {file.figures}", file=sys.stderr)
        if arguments.trace:
            traceback.print_exc()
            print(server.tail(), file=sys.stderr)
        return 1
    finally:
        signal.alarm(0)
        for device in devices:
            device.go_offline("drop")
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
