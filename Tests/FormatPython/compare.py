#!/usr/bin/env python3
"""Compares realm_reader.py with `realm dump --json`: compare.py TOOL [--key-file KEYFILE] [FILE...]

Without files it compares all golden files that must not be refused, after it has checked that they are unchanged (SHA256SUMS).

Prints a line for each file that differs, and at the end `files=N equal=N`. Files are equal if
the exit codes are the same and the lines are equal as JSON, in order. If the exit code is not 0, the lines of one program
may be the first lines of the other, because it is left open how far a dump gets before it meets damage. `exact=N` is the
number of files with the same bytes.
"""
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "Golden")


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def strict(value):
    """A JSON value in a form in which Python tells booleans from numbers, and compares numbers by value."""
    if isinstance(value, bool) or value is None:
        return "literal", value
    if isinstance(value, (int, float)):
        return "number", value
    if isinstance(value, list):
        return [strict(item) for item in value]
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    return value


def same_line(a, b):
    return a == b or strict(json.loads(a)) == strict(json.loads(b))


def difference(tool, mine):
    """The difference of two outputs; None if they are equal."""
    if tool[0] != mine[0]:
        return "exit codes: tool %d (%s), reader %d (%s)" % (tool[0], tool[2][:200], mine[0], mine[2][-300:])
    a, b = tool[1].splitlines(), mine[1].splitlines()
    if tool[0] == 0 and len(a) != len(b):
        return "tool has %d lines, reader %d" % (len(a), len(b))
    for number, (left, right) in enumerate(zip(a, b), 1):
        if not same_line(left, right):
            at = len(os.path.commonprefix([left, right]))
            left, right = (line[max(0, at - 100):at + 150].decode("utf-8", "replace") for line in (left, right))
            return "line %d, byte %d:\n  tool   %s\n  reader %s" % (number, at, left, right)
    return None


def compare(tool_path, key, files):
    """Prints the differences, and returns the number of equal files."""
    equal = 0
    for path in files:
        tool = run([tool_path, "dump", "--json", path] + key)
        mine = run([sys.executable, os.path.join(HERE, "realm_reader.py"), "dump", path] + key)
        found = difference(tool, mine)
        if found:
            print("%s: %s" % (path, found))
        else:
            equal += 1
    return equal


def compare_golden(tool_path):
    """Compares the golden files, plain and encrypted. Their README.md has the key."""
    with open(os.path.join(GOLDEN, "SHA256SUMS")) as sums:
        for line in sums:
            expected, name = line.split()
            with open(os.path.join(GOLDEN, name), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != expected:
                    sys.exit("%s has changed: a golden file never does" % name)
    files = sorted(glob.glob(os.path.join(GOLDEN, "draft-4", "*.realm")) + glob.glob(os.path.join(GOLDEN, "format-1", "*.realm")))
    plain = [path for path in files if "-plain-" in path]
    encrypted = [path for path in files if "-encrypted-" in path]
    with tempfile.NamedTemporaryFile() as key:
        key.write(bytes((i * 5 + 3) & 255 for i in range(64)))
        key.flush()
        equal = compare(tool_path, [], plain) + compare(tool_path, ["--key-file", key.name], encrypted)
    return len(files), equal


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    tool_path, key, files = arguments.pop(0), [], []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--key-file":
            key = ["--key-file", arguments.pop(0)]
        else:
            files.append(argument)
    count, equal = (len(files), compare(tool_path, key, files)) if files else compare_golden(tool_path)
    print("files=%d equal=%d" % (count, equal))
    return 0 if equal == count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
