"""Compares the bytes of this client with those of the golden transcript: python3 transcript.py [FILE]"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

sys.dont_write_bytecode = True

import messages as m
import wire as w

FILE = pathlib.Path(__file__).parent.parent / "RealmSyncTests/Golden/transcript.txt"
TYPES = {"int": 5, "string": 8, "link": 33, "longText": 35}
KINDS = {"create": w.CREATE, "set": w.SET, "setDefault": w.SET_DEFAULT, "insert": w.INSERT, "add": w.ADD}


def value(j: Any) -> w.Value:
    (name, v), = j.items()
    if name == "link":
        v = (v[0], value(v[1]))
    elif name == "longText":
        v = (bytes.fromhex(v[0]), v[1])
    return TYPES[name], v


def instruction(j: list[Any], own: list[int]) -> w.Instruction:
    kind = KINDS[j[0]]
    if kind == w.CREATE:
        return w.Instruction(kind)
    path = w.Path(j[1])
    if kind == w.INSERT:
        i, left, right = ((own[e[0]], e[1]) for e in j[2:5])
        return w.Instruction(kind, path, value(j[5]), i, left=left, right=right)
    return w.Instruction(kind, path, j[2] if kind == w.ADD else value(j[2]))


def client_bytes(j: dict[str, Any]) -> bytes | None:
    (name, f), = j.items()
    if name == "hello":
        return m.hello(f["replica"], f["oldest"], f["newest"], f["capabilities"], f["partition"] and value(f["partition"]))
    if name == "start":
        named = [(n, bytes.fromhex(h)) for n, h in f["pending"]]
        last = f["last"] and (f["last"][0], bytes.fromhex(f["last"][1]))
        return m.start(f["version"], f["tag"], f["session"], f["querySet"], f["wanted"], last, named, f["leastBase"])
    if name == "querySet":
        return m.query_set(f["number"], [tuple(q) for q in f["queries"]])
    if name == "mark":
        return m.mark(f["request"])
    if name == "retire":
        return m.retire(f["replica"])
    if name == "upload":
        objects = [((o[0], value(o[1])), [instruction(i, f["replicas"]) for i in o[2]]) for o in f["changeset"]["objects"]]
        replicas, content = w.write_changeset(w.Changeset([], objects))
        assert replicas == f["replicas"], replicas
        stamp = f["stamp"][0] << 16 | f["stamp"][1]
        before, flags = bytes.fromhex(f["previous"]), int(f["allOrNothing"])
        fields = (stamp, f["querySet"], flags, replicas, content)
        print("hash of the upload", m.upload_hash(f["sequence"], before, *fields).hex())
        return m.upload(f["sequence"], before, f["base"], *fields, compress=False)
    return None


def main() -> int:
    wrong = 0
    for line in pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else FILE).read_text().splitlines():
        side, hexadecimal, text = line.split(" ", 2)
        data, said = bytes.fromhex(hexadecimal), json.loads(text)
        if side == "server":
            print(m.read(data))
        elif (mine := client_bytes(said)) is not None and mine != data:
            wrong += 1
            print(f"DIFFERS {list(said)[0]}\n  is     {mine.hex()}\n  not    {hexadecimal}")
    print("different:", wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
