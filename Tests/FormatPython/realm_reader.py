#!/usr/bin/env python3
"""An independent reader of .realm files of format 1 and of the last draft before it, written from FORMAT.md alone.

    realm_reader.py dump FILE [--key-file KEYFILE]     what `realm dump --json FILE` prints (docs/dump-format.md)
    realm_reader.py check FILE [--key-file KEYFILE]    reads each node of the version, also indexes and links

Exit codes: 0 no damage, 1 damage (standard error has the broken rule), 2 wrong usage, 3 the file can't be opened or read.
Names in brackets, such as [Cluster], are sections of FORMAT.md.
"""
import base64
import ctypes
import ctypes.util
import hashlib
import os
import struct
import sys
from collections import namedtuple
from decimal import Decimal

PAGE = 4096
UNIT = 64
MAGIC = bytes.fromhex("89524c4d0d0a1a0a")
NUMBERS = (1, 0), (0, 4)  # format and draft

# [Node kinds]
ROOT, LEAF, BRANCH, CHUNK, CHUNK_BRANCH, KEYED_BRANCH, TABLE, CLUSTER, PIECE, INTEGER_INDEX, POSITION_BRANCH = range(1, 12)
KIND_NAMES = ["", "root", "leaf", "branch", "chunk", "chunk branch", "keyed branch", "table", "cluster", "piece",
              "integer index", "position branch"]

# [Columns]; 16 and 17 are lists and maps of [Mixed values].
BOOL, INT, FLOAT, DOUBLE, STRING, DATA, DATE, OBJECT_ID, UUID, DECIMAL, LINK, MIXED = 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
MIXED_LIST, MIXED_MAP = 16, 17
TYPE_NAMES = {BOOL: "bool", INT: "int64", FLOAT: "float", DOUBLE: "double", STRING: "string", DATA: "data", DATE: "date",
              OBJECT_ID: "objectID", UUID: "uuid", DECIMAL: "decimal128", LINK: "link", MIXED: "mixed"}
FIXED_WIDTH = {FLOAT: 4, DOUBLE: 8, OBJECT_ID: 12, UUID: 16, DECIMAL: 16}
FLOAT_MAX = float.fromhex("0x1.fffffep127")
LIST, SET, MAP = 1, 2, 3
COLLECTION_NAMES = {0: "none", LIST: "list", SET: "set", MAP: "map"}
PACKED_WIDTHS = (0, 1, 2, 4, 8, 16, 32, 64)

class Damage(Exception):
    """A rule of FORMAT.md that the file breaks."""
    def __init__(self, section, what):
        super().__init__("[%s] %s" % (section, what))

class CutShort(Damage):
    """The file is shorter than its meta pages say. The tool does not open such a file, so this has its exit code 3."""

class Refused(Exception):
    """The file can't be opened, or it needs something that this reader does not know."""

def need(condition, section, what, *arguments):
    if not condition:
        raise Damage(section, what % arguments if arguments else what)

# ---------------------------------------------------------------------------------------------- [Checksums]

def _crc_tables():
    first = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
        first.append(crc)
    tables = [first]
    for _ in range(7):
        last = tables[-1]
        tables.append([(crc >> 8) ^ first[crc & 255] for crc in last])
    return tables

_T = _crc_tables()

def _crc_stream(low, high):
    """The CRC-32C of words of 8 bytes. Each word is given as two halves."""
    t0, t1, t2, t3, t4, t5, t6, t7 = _T
    crc = 0xFFFFFFFF
    for a, b in zip(low, high):
        a ^= crc
        crc = (t7[a & 255] ^ t6[a >> 8 & 255] ^ t5[a >> 16 & 255] ^ t4[a >> 24]
               ^ t3[b & 255] ^ t2[b >> 8 & 255] ^ t1[b >> 16 & 255] ^ t0[b >> 24])
    return crc ^ 0xFFFFFFFF

def checksum(data):
    words = struct.unpack("<%dI" % (len(data) // 4), data)
    return _crc_stream(words[0::4], words[1::4]) | _crc_stream(words[2::4], words[3::4]) << 32

# --------------------------------------------------------------------------------------------- [Encryption]

class Cipher:
    def __init__(self, user_key, salt, file_id):
        self.node_key = keyed_hash(user_key, b"realm.nodes.1" + salt)
        self.meta_key = keyed_hash(user_key, b"realm.meta..1" + salt)
        self.file_id = file_id
        name = ctypes.util.find_library("sodium") or "libsodium.so.23"
        try:
            self.sodium = ctypes.CDLL(name)
        except OSError as error:
            raise Refused("libsodium can't be loaded: %s" % error)
        self.sodium.sodium_init()

    def key_check(self):
        return keyed_hash(self.meta_key, b"realm key check")[:16]

    def page_code(self, page):
        return keyed_hash(self.meta_key, page[:480])

    def open_node(self, extent, tag, unit, birth):
        """The content of a sealed node; None if it can't be verified."""
        nonce, text = extent[:24], extent[24:]
        associated = self.file_id + struct.pack("<QQ", unit, birth)
        out = ctypes.create_string_buffer(len(text))
        size = ctypes.c_ulonglong
        failed = self.sodium.crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
            out, None, text, size(len(text)), tag, associated, size(len(associated)), nonce, self.node_key)
        return None if failed else out.raw

def keyed_hash(key, data):
    return hashlib.blake2b(data, digest_size=32, key=key).digest()

# --------------------------------------------------------------------------------------------------- [Refs]

class Ref(namedtuple("Ref", "place identity check")):
    __slots__ = ()
    unit = property(lambda r: r.place & (1 << 41) - 1)
    length = property(lambda r: ((r.place >> 42 & 0x7FFF) + 1) * 8)
    birth = property(lambda r: r.identity & (1 << 48) - 1)
    kind = property(lambda r: r.identity >> 48 & 255)
    level = property(lambda r: r.identity >> 56)
    is_null = property(lambda r: r.place == 0 and r.identity == 0)

    def broken_r1(self):
        """The part of rule R1 that the ref breaks, or None."""
        rules = ((not self.place >> 41 & 1 and not self.place >> 57, "bit 41 or bits 57-63 of place are set"),
                 (ROOT <= self.kind <= POSITION_BRANCH, "unknown node kind"), (self.birth >= 1, "birth is 0"),
                 (self.level <= 128, "level is more than 128"))
        return next((text for holds, text in rules if not holds), None)

    def __str__(self):
        kind = KIND_NAMES[self.kind] if self.kind < len(KIND_NAMES) else "kind %d" % self.kind
        return "%s at byte %d" % (kind, self.unit * UNIT)

def read_ref(data, at, size):
    place, identity = struct.unpack_from("<QQ", data, at)
    return Ref(place, identity, bytes(data[at + 16:at + size]))

# --------------------------------------------------------------------------------------------- [Meta pages]

class MetaPage:
    """A meta page. Its `state` is sound, format (another format), later (a later format, if it is whole), magic (no magic) or damaged."""
    def __init__(self, number, data):
        self.number, self.data = number, data
        self.state, self.reason = self.judge()

    def judge(self):  # [How to read them], step 2, in its order
        d = self.data
        number = int.from_bytes(d[8:12], "little")
        if d[:8] != MAGIC or len(d) < 16:
            return "magic", "no magic"
        if len(d) < PAGE or checksum(d[:464]) != struct.unpack_from("<Q", d, 464)[0]:
            if number > 1:
                return "later", "format %d" % number
            return "damaged", "cut short" if len(d) < PAGE else "checksum differs"
        self.draft = struct.unpack_from("<I", d, 52)[0]
        if number != 1 and (number, self.draft) not in NUMBERS:
            return "format", "format %d" % number if number else "draft %d of format 0" % self.draft
        if (number, self.draft) not in NUMBERS:
            return "damaged", "draft is not zero"
        self.unpack()
        broken = self.broken_field()
        return ("damaged", broken) if broken else ("sound", "")

    def unpack(self):
        d = self.data
        self.page_size, = struct.unpack_from("<I", d, 12)
        self.file_id, self.salt = d[16:32], d[32:48]
        self.flags, = struct.unpack_from("<I", d, 48)
        self.version, self.greatest, self.durable, self.page_count, self.time = struct.unpack_from("<5Q", d, 56)
        self.root = read_ref(d, 96, 32)
        self.device, self.inode = struct.unpack_from("<2Q", d, 128)
        self.key_check, self.code = d[160:176], d[480:512]
        self.encrypted, self.clean = bool(self.flags & 1), bool(self.flags & 2)
        self.constants = (self.file_id, self.salt, self.encrypted, self.key_check)
        self.names = (self.version, d[96:128], self.page_count)

    def broken_field(self):
        d = self.data
        null = self.root.is_null
        rules = ((self.page_size == PAGE, "pageSize is not 4096"),
                 (not any(d[176:464] + d[472:480] + d[512:4096]), "bytes that must be zero are not"),
                 (not self.flags & ~3, "unknown flags"),
                 (2 <= self.page_count <= 1 << 35, "pageCount out of range"),
                 (1 <= self.version <= self.greatest <= (1 << 48) - 1, "version or greatest out of range"),
                 (self.durable <= self.version, "durable is greater than version"),
                 (null or not self.root.broken_r1(), "R1 of root: %s" % self.root.broken_r1()),
                 (null or self.root.birth <= self.version, "birth of root is greater than version"))
        return next((text for holds, text in rules if not holds), None)

def judge_unsound(pages, head, size):  # [How to read them], step 3
    for page in pages:
        if page.state == "format":
            raise Refused("meta page %d is of %s, this reads format 1 and draft 4" % (page.number, page.reason))
    if any(page.state == "sound" for page in pages):
        return
    if size == 0:
        raise Refused("the file is empty")
    if pages[0].state == "magic" and head[16:20] == b"T-DB" and len(head) > 23:
        raise Refused("a file of the original Realm, format %d" % head[21 if head[23] & 1 else 20])
    for page in pages:
        if page.state == "later":
            raise Refused("meta page %d is of unsupported %s" % (page.number, page.reason))
    if all(page.state == "magic" for page in pages):
        raise Refused("no file of this kind: no magic")
    if size < 2 * PAGE:
        raise CutShort("How to read them", "the file has %d bytes" % size)
    raise Damage("How to read them", "no sound meta page: page 0: %s, page 1: %s" % tuple(p.reason for p in pages))

# -------------------------------------------------------------------------------------------------- [Nodes]

class Node:
    __slots__ = ("ref", "refs", "body", "parsed", "kind")

    def __init__(self, ref, refs, body):
        self.ref, self.refs, self.body, self.kind = ref, refs, body, ref.kind

    def need(self, condition, what):
        if not condition:
            raise Damage(KIND_NAMES[self.kind].capitalize(), "%s: %s" % (self.ref, what))

class Store:
    """A file, and the version that is read."""
    def __init__(self, path, user_key):
        try:
            self.fd = os.open(path, os.O_RDONLY)
            self.stat = os.fstat(self.fd)
            pages = [MetaPage(n, os.pread(self.fd, PAGE, n * PAGE)) for n in (0, 1)]
        except OSError as error:
            raise Refused(str(error))
        self.size = self.stat.st_size
        judge_unsound(pages, pages[0].data, self.size)
        self.cipher = None
        believed = self.believed_pages(pages, user_key)
        self.ref_size = 32 if self.cipher else 24
        self.choose_version(believed)

    def believed_pages(self, pages, user_key):  # [How to read them], steps 4 to 8
        sound = [page for page in pages if page.state == "sound"]
        base = sound[0]
        if base.encrypted and user_key is None:
            raise Refused("the file is encrypted, and there is no key")
        if not base.encrypted and user_key is not None:
            raise Refused("the file is not encrypted, and there is a key")
        if base.encrypted:
            self.cipher = Cipher(user_key, base.salt, base.file_id)
            if self.cipher.key_check() != base.key_check:
                raise Refused("the key is wrong")
            sound = [page for page in sound if self.cipher.page_code(page.data) == page.code]
        sound = [page for page in sound if page.constants == base.constants]
        need(sound, "How to read them", "no meta page is left that can be believed")
        return sorted(sound, key=lambda page: (-page.version, page.number))

    # ------------------------------------------------------------------------------ [Which version to open]

    def choose_version(self, believed):
        if len(believed) == 2 and all(p.clean for p in believed) and believed[0].names == believed[1].names:
            self.set_version(believed[0])
            if self.size < self.page_count * PAGE:
                raise CutShort("Which version to open", "the file has %d bytes" % self.size)
            return
        failures = []
        for page in believed:
            self.set_version(page)
            try:
                self.verify_young(page)
                return
            except Damage as damage:
                failures.append((page.number, damage))
        kind = CutShort if isinstance(failures[0][1], CutShort) else Damage
        raise kind("Which version to open", "; ".join("meta page %d: %s" % failure for failure in failures))

    def check_length(self):
        if self.size < self.page_count * PAGE:
            raise CutShort("Which version to open", "%d bytes are less than %d pages" % (self.size, self.page_count))

    def set_version(self, page):
        self.page, self.page_count, self.root_ref = page, page.page_count, page.root
        self.reads_left = 8 * page.page_count * (PAGE // UNIT)

    def verify_young(self, page):
        """Step 2 verifies each node that was born after `durable`. In a copy of a file in use it verifies all nodes."""
        self.check_length()
        is_copy = not page.clean and (page.device, page.inode) != (self.stat.st_dev, self.stat.st_ino)
        self.walk(0 if is_copy else page.durable)

    def walk(self, durable):
        """Reads all nodes born after `durable`, and returns their number."""
        waiting = [] if self.root_ref.is_null else [self.root_ref]
        seen, count = set(), 0
        while waiting:
            ref = waiting.pop()
            need(ref.unit not in seen, "Which version to open", "two refs start at one unit: %s", ref)
            seen.add(ref.unit)
            if ref.birth > durable:
                count += 1
                waiting += self.node(ref).refs
        return count

    # ------------------------------------------------------------------------------------------------ nodes

    def node(self, ref, kinds=None, section=""):
        """Reads a node, checks all rules of [Nodes] in their order, and checks that the node is of one of `kinds`."""
        if kinds is not None:
            need(ref.kind in kinds, section, "%s is of a kind that can't stand here", ref)
        # [Overview]: each node has one parent. If many refs named the same nodes, a walk might never end.
        self.reads_left -= 1
        need(self.reads_left >= 0, "Overview", "more nodes are reached than the file can hold")
        content = self.content(ref)
        identity, length, count, zero = struct.unpack_from("<QIHH", content, 0)
        need(identity == ref.identity, "Nodes", "%s: the header's identity differs from the ref's", ref)
        need(length == ref.length, "Nodes", "%s: the header's length differs from the ref's", ref)
        need(zero == 0, "Nodes", "%s: bytes 14..<16 are not zero", ref)
        end = 16 + count * self.ref_size
        need(end <= length, "Nodes", "%s: the refs do not end in it", ref)
        need((count == 0) == (ref.level == 0), "Nodes", "%s: refs and level do not agree", ref)
        refs = [read_ref(content, at, self.ref_size) for at in range(16, end, self.ref_size)]
        for child in refs:
            broken = child.broken_r1()
            need(broken is None, "Refs", "R1 of a ref in %s: %s", ref, broken)
            need(child.birth <= ref.birth, "Nodes", "a child of %s is younger", ref)
            need(child.level < ref.level, "Nodes", "level of a child of %s is not less", ref)
        node = Node(ref, refs, content[end:])
        node.parsed = PARSERS[ref.kind](node)
        return node

    def content(self, ref):
        """The verified bytes of a node."""
        broken = ref.broken_r1()
        need(broken is None, "Refs", "R1 of %s: %s", ref, broken)
        start, length = ref.unit * UNIT, ref.length
        extent = length + (24 if self.cipher else 0)
        need(start >= 8192 and start + extent <= self.page_count * PAGE, "Refs", "R2 of %s: out of the file", ref)
        need(length >= 16, "Refs", "%s is shorter than a header", ref)
        try:
            data = os.pread(self.fd, extent, start)
        except OSError as error:
            raise Damage("Nodes", "%s can't be read: %s" % (ref, error))
        need(len(data) == extent, "Nodes", "%s lies behind the end of the file", ref)
        if self.cipher:
            data = self.cipher.open_node(data, ref.check, ref.unit, ref.birth)
            need(data is not None, "Encryption", "%s: the tag does not verify", ref)
        else:
            need(checksum(data) == int.from_bytes(ref.check[:8], "little"), "Checksums", "%s: the checksum differs", ref)
        return data

# ------------------------------------------------------------------- bodies of nodes: checks at first touch

def parse_root(n):
    """The slots of a [Root]."""
    n.need(len(n.body) >= 16, "the body is shorter than 16 bytes")
    slots = int.from_bytes(n.body[:4], "little")
    n.need(bin(slots).count("1") == len(n.refs), "not as many refs as slots")
    return slots

def unpack_list(n, code, at, count):
    """Reads `count` integers at a place of the body, and checks that the body has them."""
    size = struct.calcsize("<" + code) * count
    n.need(at + size <= len(n.body), "parts do not lie in the body")
    return struct.unpack_from("<%d%s" % (count, code), n.body, at), at + size

def is_rising(items):
    return all(a < b for a, b in zip(items, items[1:]))

def need_rising(n, ends):
    n.need(all(a <= b for a, b in zip(ends, ends[1:])), "ends fall")

def cut(data, ends):
    """The parts of data. Each part begins at the end of the one before it."""
    return [data[a:b] for a, b in zip([0] + list(ends), ends)]

def parse_leaf(n):
    """The entries of a [Leaf]: key, ref or None, bytes."""
    n.need(len(n.body) >= 8, "the body is too short")
    count, prefix_length, key_width, value_width = struct.unpack_from("<4H", n.body, 0)
    n.need(count >= 1, "no entries")
    at = 8 + prefix_length
    n.need(at <= len(n.body), "the prefix does not lie in the body")
    prefix = n.body[8:at]
    key_ends = value_ends = None
    if key_width == 0xFFFF:
        key_ends, at = unpack_list(n, "H", at, count)
    if value_width == 0xFFFF:
        value_ends, at = unpack_list(n, "H", at, count)
    with_refs = [bool(end & 0x8000) for end in value_ends] if value_ends else [False] * count
    key_ends = key_ends or [key_width * i for i in range(1, count + 1)]
    value_ends = [end & 0x7FFF for end in value_ends] if value_ends else [value_width * i for i in range(1, count + 1)]
    need_rising(n, key_ends)
    need_rising(n, value_ends)
    n.need(at + key_ends[-1] + value_ends[-1] <= len(n.body), "keys and values do not lie in the body")
    keys = [prefix + key for key in cut(n.body[at:at + key_ends[-1]], key_ends)]
    at += key_ends[-1]
    n.need(all(len(key) <= 1024 for key in keys), "a key has more than 1024 bytes")
    n.need(is_rising(keys), "keys do not ascend")
    values = cut(n.body[at:at + value_ends[-1]], value_ends)
    return list(zip(keys, *take_refs(n, values, with_refs)))

def take_refs(n, values, with_refs):
    """Removes the 2-byte indices from the values that have a ref. The indices must be 0, 1, 2 …, one for each ref."""
    refs, rest, used = [], [], 0
    for value, has_ref in zip(values, with_refs):
        if has_ref:
            n.need(len(value) >= 2 and int.from_bytes(value[:2], "little") == used < len(n.refs),
                   "the index of a ref is not the next one")
            refs.append(n.refs[used])
            used += 1
        else:
            refs.append(None)
        rest.append(value[2:] if has_ref else value)
    n.need(used == len(n.refs), "a ref belongs to no value")
    return refs, rest

Branch = namedtuple("Branch", "counts separators")

def parse_branch(n):  # [Branch]
    count = len(n.refs)
    n.need(count >= 1, "no children")
    counts, at = unpack_list(n, "Q", 0, count)
    ends, at = unpack_list(n, "H", at, count)
    need_rising(n, ends)
    n.need(ends[0] == 0, "the first separator is not empty")
    n.need(all(b - a <= 1024 for a, b in zip(ends, ends[1:])), "a separator has more than 1024 bytes")
    n.need(at + ends[-1] <= len(n.body), "separators do not lie in the body")
    n.need(sum(counts) < 1 << 62, "the counts are too large")
    return Branch(counts, cut(n.body[at:at + ends[-1]], ends))

def parse_chunk(n):  # [Long values]
    n.need(not n.refs, "it has refs")
    n.need(len(n.body) >= 8, "the body is too short")
    (count,) = struct.unpack_from("<I", n.body, 0)
    n.need(8 + count <= len(n.body), "the bytes do not lie in the body")
    return n.body[8:8 + count]

def parse_chunk_branch(n):  # [Long values]
    n.need(len(n.refs) >= 1, "no children")
    counts, _ = unpack_list(n, "Q", 0, len(n.refs))
    n.need(sum(counts) <= 1 << 40, "the counts are too large")
    return counts

def parse_keyed_branch(n):
    """The least keys of a [Keyed branch]."""
    count = len(n.refs)
    n.need(count >= 1, "no children")
    least, at = unpack_list(n, "Q", 0, count)
    rows, _ = unpack_list(n, "Q", at, count)
    n.need(is_rising(least), "least keys do not ascend")
    n.need(sum(rows) < 1 << 62, "too many rows")
    return least

PositionBranch = namedtuple("PositionBranch", "flags counts")

def parse_position_branch(n):  # [Position branch]
    n.need(len(n.refs) >= 1, "no children")
    (flags,), at = unpack_list(n, "Q", 0, 1)
    counts, _ = unpack_list(n, "Q", at, len(n.refs))
    n.need(all(count >= 1 for count in counts), "a count is 0")
    n.need(sum(counts) < 1 << 62, "the counts are too large")
    return PositionBranch(flags, counts)

TableNode = namedtuple("TableNode", "trees parts rows_ref dictionaries next_nested")

def parse_table(n):  # [Table]
    n.need(len(n.body) >= 32, "the body is shorter than 32 bytes")
    next_key, rows, trees, index_count, dictionary_count, parts, next_nested = struct.unpack_from("<QQ4HQ", n.body, 0)
    indexes, at = unpack_list(n, "H", 32, index_count)
    columns, at = unpack_list(n, "H", at, dictionary_count)
    if parts & 1:
        unpack_list(n, "Q", at, 1)
    n.need(next_key <= 1 << 62, "nextKey is too large")
    n.need(rows <= next_key, "rows is greater than nextKey")
    n.need(1 <= next_nested <= 1 << 62, "nextNested is out of range")
    n.need((trees & 1) == (rows != 0), "bit 0 of trees and rows do not agree")
    n.need(len(n.refs) == bin(trees).count("1") + index_count + dictionary_count, "another count of refs than of trees")
    for ids in (indexes, columns):
        n.need(is_rising((0,) + ids), "ids do not ascend from 1")
    first = len(n.refs) - dictionary_count
    return TableNode(trees, parts, n.refs[0] if trees & 1 else None, dict(zip(columns, n.refs[first:])), next_nested)

Descriptor = namedtuple("Descriptor", "column encoding width null_count least greatest offset length")

class Cluster:
    def __init__(self, n, rows, first_key):
        self.n, self.rows, self.first_key, self.descriptors = n, rows, first_key, {}

    def data(self, d):
        return self.n.body[d.offset:d.offset + d.length]

    def nulls(self, d):
        """For each row whether it is null, and the place in the data where the values start."""
        if d.null_count in (0, self.rows):
            return [d.null_count != 0] * self.rows, 0
        bits = self.data(d)
        return [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(self.rows)], (self.rows + 7) // 8

    def integers(self, d, signed=True):
        """Reads encodings 1, 2 and 5: an integer or None for each row."""
        nulls, at = self.nulls(d)
        if d.null_count == self.rows:
            return [None] * self.rows
        values = unpack_integers(self.data(d)[at:], self.rows, d.width, d.least, signed)
        return [None if null else value for null, value in zip(nulls, values)]

    def fixed(self, d):
        """Reads encoding 3: bytes of a fixed length or None for each row."""
        nulls, at = self.nulls(d)
        data, width = self.data(d), d.width
        return [None if null else data[at + i * width:at + (i + 1) * width] for i, null in enumerate(nulls)]

    def row_keys(self):
        d = self.descriptors.get((0, 1))
        if d is None:
            return range(self.first_key, self.first_key + self.rows)
        return self.integers(d, signed=False)

    def starts(self, d):
        """Reads encodings 4 and 6: pairs of a row and a ref."""
        rows = struct.unpack("<%dH" % d.greatest, self.data(d))
        return list(zip(rows, self.n.refs[d.least:d.least + d.greatest]))

def unpack_integers(data, rows, width, least, signed):  # [Packed integers]
    if width == 0:
        distances = [0] * rows
    elif width < 8:
        mask = (1 << width) - 1
        distances = [data[i * width >> 3] >> (i * width & 7) & mask for i in range(rows)]
    else:
        distances = struct.unpack_from("<%d%s" % (rows, {8: "B", 16: "H", 32: "I", 64: "Q"}[width]), data, 0)
    values = [least + distance & (1 << 64) - 1 for distance in distances]
    return [v - (1 << 64) if v >> 63 else v for v in values] if signed else values

def parse_cluster(n):  # [Cluster]
    n.need(len(n.body) >= 16, "the body is too short")
    rows, count, _, first_key = struct.unpack_from("<HHIQ", n.body, 0)
    n.need(1 <= rows <= 512, "rows is not 1 to 512")
    n.need(first_key <= (1 << 64) - 513, "firstKey is too large")
    end = 16 + 32 * count
    n.need(end <= len(n.body), "descriptors do not lie in the body")
    cluster = Cluster(n, rows, first_key)
    before, used = (-1, 0), 0
    for at in range(16, end, 32):
        d = Descriptor(*struct.unpack_from("<HBBHxxqqII", n.body, at))
        n.need((d.column, d.encoding) > before, "descriptors do not ascend")
        n.need(1 <= d.encoding <= 6, "unknown encoding")
        n.need(d.column != before[0] or 5 not in (d.encoding, before[1]), "codes are not alone")
        n.need(d.null_count <= rows, "nullCount is greater than rows")
        n.need(d.offset >= end and d.offset + d.length <= len(n.body), "data do not lie in the body")
        if d.encoding in (4, 6):
            used = check_ref_descriptor(n, cluster, d, used, before)
        else:
            check_value_descriptor(n, d, rows)
        n.need(d.column != 0 or (d.encoding == 1 and d.null_count == 0), "row keys have another encoding, or nulls")
        cluster.descriptors[d.column, d.encoding] = d
        before = (d.column, d.encoding)
    n.need(used == len(n.refs), "a ref belongs to no descriptor")
    if (0, 1) in cluster.descriptors:
        keys = cluster.row_keys()
        n.need(keys[0] == first_key and is_rising(keys), "row keys do not ascend from firstKey")
    return cluster

def check_value_descriptor(n, d, rows):
    """Checks a descriptor of integers, nanoseconds, fixed bytes or codes."""
    if d.encoding == 3:
        n.need(d.width in (4, 8, 12, 16), "width of fixed bytes")
        size = rows * d.width
    else:
        n.need(d.width in PACKED_WIDTHS, "width of integers")
        n.need(d.least <= d.greatest, "least is greater than greatest")
        size = (rows * d.width + 7) // 8
    if d.encoding == 5:
        n.need(d.width <= 16 and d.least >= 0 and d.greatest < 65536, "codes out of range")
    if d.encoding == 2:
        n.need(d.null_count == 0, "nulls of nanoseconds")
    if d.null_count == rows:
        size = 0
    elif d.null_count:
        size += (rows + 7) // 8
    n.need(d.length == size, "length of data is not what null bits and values take")

def check_ref_descriptor(n, cluster, d, used, before):
    """Checks a descriptor of pieces or trees. Returns the number of refs that it and the descriptors before it use."""
    n.need(d.width == 0 and d.null_count == 0, "width or nullCount of pieces or trees")
    n.need(d.least == used, "the first ref is not the next one")
    n.need(1 <= d.greatest <= cluster.rows and used + d.greatest <= len(n.refs), "count of pieces or trees")
    n.need(d.length == 2 * d.greatest, "length of pieces or trees")
    rows = [row for row, _ in cluster.starts(d)]
    n.need(is_rising(rows) and rows[-1] < cluster.rows, "first rows do not ascend")
    if d.encoding == 4:
        n.need(rows[0] == 0, "the first piece does not begin with row 0")
    else:
        n.need(before == (d.column, 4), "trees do not stand behind pieces of their column")
    return used + d.greatest

NULL, TREE = "null", "tree"

def parse_piece(n):
    """The values of a [Piece]. A value is bytes, NULL, TREE, or a pair of ref and length."""
    (rows,), at = unpack_list(n, "H", 0, 1)
    n.need(1 <= rows <= 512, "rows is not 1 to 512")
    words, at = unpack_list(n, "H", at, rows)
    ends = [word & 0x3FFF for word in words]
    need_rising(n, ends)
    n.need(at + ends[-1] <= len(n.body), "the heap does not lie in the body")
    values, used = [], 0
    for word, value in zip(words, cut(n.body[at:at + ends[-1]], ends)):
        bits = word >> 14
        if bits & 1:
            n.need(not value, "a value that is null or a tree has bytes")
            values.append(TREE if bits == 3 else NULL)
        elif bits == 2:
            n.need(len(value) == 10, "a value that stands apart has not 10 bytes")
            index, length = struct.unpack("<HQ", value)
            n.need(index == used < len(n.refs), "the index of a ref is not the next one")
            values.append((n.refs[used], length))
            used += 1
        else:
            values.append(value)
    n.need(used == len(n.refs), "a ref belongs to no value")
    return values

def parse_integer_index(n):  # [Integer index]; only checked, because a dump does not read indexes
    n.need(not n.refs, "it has refs")
    n.need(len(n.body) >= 24, "the body is too short")
    count, width, row_width, _, least, _ = struct.unpack_from("<HBBIqQ", n.body, 0)
    n.need(1 <= count <= 512, "count is not 1 to 512")
    n.need(width in PACKED_WIDTHS and row_width in PACKED_WIDTHS + (24,), "widths")
    size = (count * width + 7) // 8
    n.need(24 + size + (count * row_width + 7) // 8 <= len(n.body), "numbers and rows do not lie in the body")
    numbers = range(count) if width == 0 else unpack_integers(n.body[24:], count, width, 0, False)
    n.need(is_rising(numbers), "numbers do not ascend")
    n.need(least + numbers[-1] < 1 << 63, "the last number is too large")

PARSERS = {ROOT: parse_root, LEAF: parse_leaf, BRANCH: parse_branch, CHUNK: parse_chunk, CHUNK_BRANCH: parse_chunk_branch,
           KEYED_BRANCH: parse_keyed_branch, TABLE: parse_table, CLUSTER: parse_cluster, PIECE: parse_piece,
           INTEGER_INDEX: parse_integer_index, POSITION_BRANCH: parse_position_branch}

# --------------------------------------------------------------------------------------------------- trees

def leaves(store, ref, leaf_kind, branch_kind, section):
    node = store.node(ref, (leaf_kind, branch_kind), section)
    if node.kind == leaf_kind:
        yield node
    else:
        for child in node.refs:
            yield from leaves(store, child, leaf_kind, branch_kind, section)

def entries(store, ref, section):
    """The entries of an ordered tree, [Leaf] and [Branch]: key, ref or None, bytes."""
    last = None
    for leaf in leaves(store, ref, LEAF, BRANCH, section):
        leaf.need(last is None or last < leaf.parsed[0][0], "keys do not go on ascending from leaf to leaf")
        yield from leaf.parsed
        last = leaf.parsed[-1][0]

def find_entry(store, ref, key, section):
    """The ref and the bytes of a key's entry in an ordered tree, or None."""
    node = store.node(ref, (LEAF, BRANCH), section)
    while node.kind == BRANCH:
        child = max([i for i, separator in enumerate(node.parsed.separators) if separator <= key], default=0)
        node = store.node(node.refs[child], (LEAF, BRANCH), section)
    return next((entry[1:] for entry in node.parsed if entry[0] == key), None)

def entry_value(store, ref, data, section):
    """The bytes of an entry's value, which is inline or long."""
    if ref is None:
        return data
    need(len(data) == 8, section, "a long value has no length of 8 bytes")
    return long_value(store, ref, int.from_bytes(data, "little"))

def long_value(store, ref, length):  # [Long values]
    need(length <= store.size, "Long values", "a value is longer than the file")
    value = b"".join(chunks(store, ref, length))
    need(len(value) == length, "Long values", "a value has %d bytes, not %d" % (len(value), length))
    return value

def chunks(store, ref, at_most):
    node = store.node(ref, (CHUNK, CHUNK_BRANCH), "Long values")
    if node.kind == CHUNK:
        node.need(len(node.parsed) <= at_most, "more bytes than the length says")
        yield node.parsed
        return
    node.need(sum(node.parsed) <= at_most, "more bytes than the length says")
    for child, count in zip(node.refs, node.parsed):
        node.need(count >= 1, "a count is 0")
        found = 0
        for part in chunks(store, child, count):
            found += len(part)
            yield part
        node.need(found == count, "a count is not that of the bytes below")

# ------------------------------------------------------------------------------- cursors over stored values

class Cursor:
    """Reads bytes from the start, and never beyond their end."""
    def __init__(self, data, section):
        self.data, self.at, self.section = data, 0, section

    def need(self, condition, what):
        if not condition:
            raise Damage(self.section, what)

    left = property(lambda self: len(self.data) - self.at)

    def take(self, count):
        self.need(count <= self.left, "it ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):  # [Conventions]
        value = 0
        for i in range(10):
            byte = self.byte()
            self.need(i < 9 or byte <= 1, "a varint has more than 64 bits")
            value |= (byte & 127) << 7 * i
            if byte < 128:
                break
        return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def data_field(self):
        return self.take(self.varint())

    def string(self):
        return utf8(self.data_field(), self.section)

    def end(self):
        self.need(self.left == 0, "bytes are left behind the end")

def utf8(data, section):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Damage(section, "bytes of a string are no UTF-8")

# A value is None or a pair of type and payload. The payload is a bool, int, str, bytes (also for floats), (seconds, nanoseconds),
# the row of a link in a column of links, (table, row) of a link in a mixed value, a list, or a list of pairs.

def read_element(c, kind):  # the second table of [Collections]
    if kind == BOOL:
        byte = c.byte()
        c.need(byte <= 1, "a bool is neither 0 nor 1")
        return BOOL, byte == 1
    if kind == INT:
        return INT, c.zigzag()
    if kind == LINK:
        return LINK, c.varint()
    if kind == STRING:
        return STRING, c.string()
    if kind == DATA:
        return DATA, c.data_field()
    if kind == DATE:
        seconds, nanoseconds = c.zigzag(), c.varint()
        c.need(nanoseconds < 1000000000, "nanoseconds of a date")
        return DATE, (seconds, nanoseconds)
    if kind == MIXED:
        return read_mixed(c)
    return kind, c.take(FIXED_WIDTH[kind])

def read_mixed(c, depth=0):  # [Mixed values]
    kind = c.byte()
    if kind == 0:
        return None
    if kind == LINK:
        return LINK, (c.varint(), c.varint())
    if kind in (MIXED_LIST, MIXED_MAP):
        c.need(depth < 100, "lists and maps stand in each other more than 100 deep")
        c.need(c.varint() != 0, "the id of a list or map is 0")
        count = c.varint()
        c.need(count <= c.left, "a count is greater than the bytes after it")
        if kind == MIXED_LIST:
            return kind, [read_mixed(c, depth + 1) for _ in range(count)]
        return kind, read_mixed_map(c, count, depth)
    c.need(kind in TYPE_NAMES and kind != MIXED, "unknown type %d of a mixed value" % kind)
    return read_element(c, kind)

def read_mixed_map(c, count, depth):
    pairs = []
    for _ in range(count):
        key = c.string()
        pairs.append((key, read_mixed(c, depth + 1)))
    need_ascending_keys(c, [key for key, _ in pairs])
    return pairs

def need_ascending_keys(c, keys):
    keys = [key.encode() for key in keys]
    c.need(is_rising(keys), "keys of a map do not ascend")

def read_collection(data, column):
    """Reads [Collections]: a list of elements, or of pairs for a map."""
    c = Cursor(data, "Collections")
    count = c.varint()
    c.need(count <= c.left * (8 if column.optional and column.collection != MAP else 1), "count is too large")
    nulls = c.take((count + 7) // 8) if column.optional else bytes((count + 7) // 8)
    keys = [c.string() for _ in range(count)] if column.collection == MAP else None
    elements = [None if nulls[i >> 3] >> (i & 7) & 1 else read_element(c, column.type) for i in range(count)]
    c.end()
    if column.collection == SET:
        need_ascending_set(elements, "Collections")
    if keys is None:
        return elements
    need_ascending_keys(c, keys)
    return list(zip(keys, elements))

# ---------------------------------------------------------------------------- the order of sets, [Collections]

def need_ascending_set(elements, section):
    ranks = [set_rank(element) for element in elements]
    need(is_rising(ranks), section, "elements of a set do not ascend")

def set_rank(value):
    """The sort key of a set's element, in a form that Python compares."""
    if value is None:
        return (0,)
    kind, payload = value
    need(kind not in (MIXED_LIST, MIXED_MAP), "Collections", "a set holds a list or map")
    if kind in (INT, FLOAT, DOUBLE, DECIMAL):
        number = number_value(kind, payload)
        return (2,) if number is None else (3, number)
    if kind == STRING:
        payload = payload.encode()
    rank = {BOOL: 1, STRING: 4, DATA: 5, DATE: 6, OBJECT_ID: 7, UUID: 8, LINK: 9}[kind]
    return rank, payload

def number_value(kind, payload):
    """The exact number; None if the value is not a number."""
    if kind == INT:
        return Decimal(payload)
    if kind == DECIMAL:
        return decimal_value(payload)
    number = float_value(kind, payload)
    if number != number:
        return None
    if -2.0 ** 63 <= number < 2.0 ** 63 and number == int(number):
        return Decimal(int(number))
    return Decimal(repr(number))

def float_value(kind, data):
    return struct.unpack("<f" if kind == FLOAT else "<d", data)[0]

def decimal_value(data):
    """Decodes a decimal128 of IEEE 754-2008 in BID form."""
    bits = int.from_bytes(data, "little")
    sign = bits >> 127
    top = bits >> 122 & 31
    if top == 31:
        return None
    if top == 30:
        return Decimal("-Infinity" if sign else "Infinity")
    coefficient, exponent = bits & (1 << 113) - 1, bits >> 113 & 0x3FFF
    if top >> 3 == 3 or coefficient >= 10 ** 34:
        return Decimal(0)
    return Decimal((sign, tuple(map(int, str(coefficient))), exponent - 6176))

# ----------------------------------------------------------------------------- [Attribute records], [Schema]

def read_attributes(data):
    """The attributes of a record: number, rule, value."""
    c, parts = Cursor(data, "Attribute records"), []
    while c.left:
        tag = int.from_bytes(c.take(2), "little")
        parts.append((tag & 0x3FFF, tag >> 14, c.data_field()))
    c.need(is_rising([number for number, _, _ in parts]), "numbers of attributes do not ascend")
    return parts

def attributes(data, rules, what):
    """The known attributes of a record by their numbers, and whether it has an unknown one that a writer must know."""
    found, unknown, parts = {}, False, read_attributes(data)
    for number, rule, value in parts:  # damage is reported before unknown attributes
        need(rule != 3, "Attribute records", "attribute %d of %s has the rule 3", number, what)
        if number in rules:
            need(rules[number] == rule, "Attribute records", "attribute %d of %s has another rule", number, what)
            found[number] = value
    for number, rule, _ in parts:
        if number not in rules and rule == 2:
            raise Refused("%s has the attribute %d, which must be known to read it" % (what, number))
        unknown = unknown or (number not in rules and rule == 1)
    return found, unknown

def number_of(found, number, size, usual=None):
    """The integer of an attribute with `size` bytes; `usual` if it is absent."""
    value = found.get(number)
    if value is None and usual is not None:
        return usual
    need(value is not None and len(value) == size, "Schema", "attribute %d is absent or has another length" % number)
    return int.from_bytes(value, "little")

def records_in(data):
    c, found = Cursor(data, "Schema"), []
    while c.left:
        found.append(c.data_field())
    return found

class Column:
    def __init__(self, id, kind, optional, collection=0):
        self.id, self.type, self.collection, self.optional = id, kind, collection, optional
        self.name, self.target, self.null_where_absent, self.stored_default = "", 0, False, None
        self.companion, self.index = None, "none"

    def default(self):  # Defaults of [Columns]
        if self.collection:
            return []
        if self.null_where_absent:
            return None
        return self.stored_default or zero_of(self.type)

def zero_of(kind):
    if kind in FIXED_WIDTH:
        return kind, bytes(FIXED_WIDTH[kind])
    return {BOOL: (BOOL, False), INT: (INT, 0), STRING: (STRING, ""), DATA: (DATA, b""), DATE: (DATE, (0, 0))}.get(kind)

def read_column(data, next_column, what):  # [Schema]
    found, _ = attributes(data, dict.fromkeys(range(1, 9), 2), "a column of " + what)
    kind, flags, collection = number_of(found, 3, 1), number_of(found, 4, 1, 0), number_of(found, 5, 1, 0)
    if kind not in TYPE_NAMES or flags & ~3 or collection not in COLLECTION_NAMES:
        raise Refused("a column of %s has an unknown type, flag or collection" % what)
    column = Column(number_of(found, 1, 2), kind, bool(flags & 1), collection)
    need(1 <= column.id < next_column, "Schema", "id of a column is out of range")
    need(2 in found, "Schema", "a column has no name")
    column.name, column.null_where_absent = utf8(found[2], "Schema"), bool(flags & 2)
    # Flag bit 0 has no meaning for links and mixed values.
    if kind == LINK:
        column.optional = collection not in (LIST, SET)
    elif kind == MIXED:
        column.optional = True
    single = kind in (LINK, MIXED) and not collection
    allowed = (single, single or (bool(flags & 1) and not collection))
    need(allowed[0] <= column.null_where_absent <= allowed[1], "Schema", "flag bit 1 of a column is not as it must be")
    need(6 not in found or kind == LINK, "Schema", "a target stands with a column that is none of links")
    column.target = number_of(found, 6, 4, 0)
    if 7 in found:
        need(not collection and kind not in (LINK, MIXED), "Schema", "a column has a default that can't have one")
        c = Cursor(found[7], "Schema")
        column.stored_default = read_element(c, kind)
        c.need(kind not in (STRING, DATA) or len(found[7]) - 2 <= 4096, "a default has more than 4096 bytes")
        c.end()
    if 8 in found:
        need(len(found[8]) == 3, "Schema", "length of a companion")
        column.companion = struct.unpack("<BH", found[8])
    return column

class Table:
    """The record of a table."""
    def __init__(self, key, data):
        need(len(key) == 4, "Schema", "a key of the schema has not 4 bytes")
        self.id = int.from_bytes(key, "big")
        what = "table %d" % self.id
        found, _ = attributes(data, {1: 2, 2: 2, 3: 2, 4: 1, 5: 2, 6: 1, 7: 1, 8: 1}, what)
        need(1 in found, "Schema", "%s has no name" % what)
        self.name = utf8(found[1], "Schema")
        flags = number_of(found, 2, 1, 0)
        if flags & ~7:
            raise Refused("%s has unknown flags" % what)
        self.embedded, self.hidden, self.dropped = bool(flags & 1), bool(flags & 2), bool(flags & 4)
        next_column, next_index = number_of(found, 3, 4), number_of(found, 4, 4, 1)
        need(1 <= next_column <= 65536 and 1 <= next_index <= 65536, "Schema", "nextColumn or nextIndex out of range")
        need(7 not in found or not found[7], "Schema", "the attribute element ids has bytes")
        self.element_ids = 7 in found
        left = found.get(5) or found.get(6)
        need(not self.dropped or (self.hidden and not left), "Schema", "a dropped table is not hidden, or has columns")
        self.columns = [read_column(record, next_column, what) for record in records_in(found.get(5, b""))]
        self.check_columns(found.get(8, b""), next_column)
        self.read_indexes(records_in(found.get(6, b"")), next_index, what)
        self.shown = [column for column in self.columns if column.companion is None]

    def check_columns(self, dropped, next_column):
        need(len(self.columns) <= 1000, "Limits", "a table has more than 1000 columns")
        ids = [column.id for column in self.columns]
        names = [column.name for column in self.columns if column.companion is None]
        need(len(set(ids)) == len(ids), "Schema", "two columns have one id")
        need(len(dropped) % 2 == 0, "Schema", "length of dropped columns")
        dropped = struct.unpack("<%dH" % (len(dropped) // 2), dropped)
        need(is_rising((0, *dropped, next_column)) and not set(dropped) & set(ids), "Schema", "ids of dropped columns")
        need(len(set(names)) == len(names), "Schema", "two columns have one name")
        earlier, pairs = {}, set()
        for column in self.columns:
            if column.companion is None:
                earlier[column.id] = column
            else:
                check_companion(column, earlier, pairs)

    def read_indexes(self, records, next_index, what):
        ids, by_id = set(), {column.id: column for column in self.columns}
        for record in records:
            found, unknown = attributes(record, {1: 1, 2: 1, 3: 1, 4: 1}, "an index of " + what)
            id, kind = number_of(found, 1, 2), number_of(found, 2, 1)
            need(1 <= id < next_index and id not in ids, "Schema", "id of an index")
            ids.add(id)
            columns = found.get(3, b"")
            need(columns and len(columns) % 2 == 0, "Schema", "columns of an index")
            options = read_attributes(found.get(4, b""))  # this reader knows no options, so their rules do not matter
            need(all(rule != 3 for _, rule, _ in options), "Schema", "an option of an index has the rule 3")
            if kind not in (1, 2) or len(columns) != 2 or unknown or options:
                continue
            column = by_id.get(int.from_bytes(columns, "little"))
            need(column is not None, "Schema", "an index is of a column that is not there")
            need(column.companion is None, "Companions", "a companion has an index")
            if can_have_index(column, kind) and column.index == "none":
                column.index = "indexed" if kind == 1 else "primary key"

def can_have_index(column, kind):
    return not column.collection and column.type not in (FLOAT, DOUBLE, DATA, DECIMAL, LINK) and (
        kind == 1 or column.type != MIXED)

def check_companion(column, owners, pairs):  # [Companions]
    role, owner_id = column.companion
    if role not in (1, 2, 3):
        raise Refused("a companion has the unknown role %d" % role)
    owner = owners.get(owner_id)
    need(owner is not None, "Companions", "the owner does not stand before its companion")
    need((role, owner_id) not in pairs, "Companions", "an owner has two companions of one role")
    pairs.add((role, owner_id))
    if role == 3:
        shape = (column.type, column.collection, column.optional, column.null_where_absent)
        fits = owner.type in (LINK, MIXED) and shape == (DATA, 0, True, True)
    else:
        fits = owner.collection == LIST and (column.type, column.collection, column.optional) == (INT, LIST, role == 2)
        fits = fits and (role == 1 or (1, owner_id) in pairs)
    need(fits and column.name == "" and column.stored_default is None, "Companions", "a companion is not as it must be")

# ------------------------------------------------------------------------------------- the version's content

class Database:
    def __init__(self, store):
        self.store, self.root = store, None
        if not store.root_ref.is_null:
            self.root = store.node(store.root_ref, (ROOT,), "Root")
            if self.root.parsed >> 4:
                raise Refused("the root has slots that this reader does not know")
            self.check_slots()
        self.tables = self.read_schema()
        self.names = {table.id: table.name for table in self.tables if not table.hidden}

    def slot(self, number):  # [Root]
        if self.root is None or not self.root.parsed >> number & 1:
            return None
        return self.root.refs[bin(self.root.parsed & (1 << number) - 1).count("1")]

    def slot_entries(self, number, section):
        ref = self.slot(number)
        return entries(self.store, ref, section) if ref else ()

    def check_slots(self):  # [Named slots]
        for key, _, value in self.slot_entries(3, "Named slots"):
            name = utf8(key, "Named slots")
            need(1 <= len(key) <= 255, "Named slots", "a name has not 1 to 255 bytes")
            need(value and value[0] <= 2, "Named slots", "the slot %r has no rule of 0, 1 or 2" % name)
            if value[0] == 2:
                raise Refused("the slot %r must be known to read the file" % name)

    def read_schema(self):
        return [Table(key, entry_value(self.store, ref, data, "Schema"))
                for key, ref, data in self.slot_entries(0, "Schema")]

    def table_node(self, table):
        """The ref of a table's node, or None."""
        tables = self.slot(1)
        found = find_entry(self.store, tables, struct.pack(">I", table.id), "Root") if tables else None
        if found is None:
            return None
        ref, data = found
        need(ref is not None and not data, "Root", "an entry of the tables is no ref")
        return ref

    def named_trees(self):
        """The pairs of a name and the ref of its tree, [Named trees]."""
        for key, ref, data in self.slot_entries(2, "Named trees"):
            need(1 <= len(key) <= 255 and not data, "Named trees", "a name or its value is not as it must be")
            name = utf8(key, "Named trees")
            if ref is not None:
                yield name, ref

    def rows(self, table, ref):
        """The pairs of a row key and the values of its columns."""
        node = self.store.node(ref, (TABLE,), "Table")
        if node.parsed.trees & ~7 or node.parsed.parts & ~1:
            raise Refused("the table %r has trees or parts that this reader does not know" % table.name)
        if node.parsed.rows_ref is None:
            return
        dictionaries = {id: Dictionary(self.store, root) for id, root in node.parsed.dictionaries.items()}
        for leaf in leaves(self.store, node.parsed.rows_ref, CLUSTER, KEYED_BRANCH, "Cluster"):
            cells = Cells(self.store, leaf.parsed, dictionaries)
            # Companions are read like in the tool, because damage in a companion stops a dump.
            read = [(column, cells.column(column)) for column in table.columns]
            shown = [values for column, values in read if column.companion is None]
            for i, key in enumerate(leaf.parsed.row_keys()):
                yield key, [values[i] for values in shown]

class Dictionary:
    """A dictionary: [Dictionaries]."""
    def __init__(self, store, ref):
        self.store, self.root, self.known = store, ref, {}

    def __getitem__(self, code):
        if code not in self.known:
            self.load(code)
        return self.known[code]

    def load(self, code):
        least, node = 0, self.store.node(self.root, (PIECE, KEYED_BRANCH), "Dictionaries")
        while node.kind == KEYED_BRANCH:
            child = max([i for i, key in enumerate(node.parsed) if key <= code], default=0)
            least = node.parsed[child]
            node = self.store.node(node.refs[child], (PIECE, KEYED_BRANCH), "Dictionaries")
        node.need(0 <= code - least < len(node.parsed), "the dictionary lacks a code")
        for i, value in enumerate(node.parsed):
            node.need(isinstance(value, bytes), "a value of a dictionary is null or stands apart")
            self.known[least + i] = value

class Cells:
    """The values of a cluster, column by column: [Reading a value of a row], steps 7 to 13."""
    def __init__(self, store, cluster, dictionaries):
        self.store, self.cluster, self.dictionaries = store, cluster, dictionaries
        self.rows = cluster.rows

    def column(self, column):
        find = lambda encoding: self.cluster.descriptors.get((column.id, encoding))
        if column.collection or column.type in (MIXED, STRING, DATA):
            if find(4):
                return self.pieces(column, find(4), find(6))
            if find(5) and not column.collection and column.type != MIXED:
                return self.codes(column, find(5))
        elif column.type in FIXED_WIDTH:
            d = find(3)
            if d and d.width == FIXED_WIDTH[column.type]:
                return [None if value is None else (column.type, value) for value in self.cluster.fixed(d)]
        elif find(1):
            return self.integers(column, find(1), find(2))
        return [column.default()] * self.rows

    def integers(self, column, d, nanoseconds):
        values = self.cluster.integers(d, signed=column.type != LINK)
        if column.type == DATE:
            parts = self.cluster.integers(nanoseconds) if nanoseconds else [0] * self.rows
            parts = [part if 0 <= part <= 999999999 else 0 for part in parts]
            return [None if value is None else (DATE, (value, part)) for value, part in zip(values, parts)]
        if column.type == BOOL:
            return [None if value is None else (BOOL, value != 0) for value in values]
        return [None if value is None else (column.type, value) for value in values]

    def codes(self, column, d):
        codes = self.cluster.integers(d)
        if d.null_count == self.rows:
            return codes
        need(column.id in self.dictionaries, "Dictionaries", "the table lacks the dictionary of column %d" % column.id)
        known = self.dictionaries[column.id]
        return [None if code is None else self.text(column, known[code]) for code in codes]

    def text(self, column, data):
        return (STRING, utf8(data, "Columns")) if column.type == STRING else (DATA, data)

    def pieces(self, column, d, trees):
        trees = dict(self.cluster.starts(trees)) if trees else {}
        starts = self.cluster.starts(d)
        ends = [row for row, _ in starts[1:]] + [self.rows]
        values = []
        for (first, ref), end in zip(starts, ends):
            piece = self.store.node(ref, (PIECE,), "Piece")
            piece.need(len(piece.parsed) >= end - first, "it has too few rows")
            for i in range(first, end):
                values.append(self.cell(column, piece.parsed[i - first], trees.get(i)))
        return values

    def cell(self, column, value, tree):
        if value is NULL:
            return None
        if value is TREE:
            need(column.collection and tree is not None, "Cluster", "a cell says it is a tree, and the cluster has none")
            return read_tree(self.store, column, tree)
        if isinstance(value, tuple):
            value = long_value(self.store, *value)
        if column.collection:
            return read_collection(value, column)
        if column.type == MIXED:
            c = Cursor(value, "Mixed values")
            mixed = read_mixed(c)
            c.end()
            return mixed
        return self.text(column, value)

# --------------------------------------------------------------------------- large collections that are trees

def read_tree(store, column, ref):
    if column.collection == LIST:
        section = "Trees of lists"
        items = list(list_elements(store, column, ref))
    else:
        section = "Trees of sets and maps"
        read_entry = set_entry if column.collection == SET else map_entry
        items = [read_entry(key, entry_value(store, child, data, section), column)
                 for key, child, data in entries(store, ref, section)]
    # The tool does not compare all counts in branches. It compares the total of a list, and refuses a total of a set or map that is too
    # large.
    total = count_below(store, ref)
    need(total <= store.size and (column.collection != LIST or total == len(items)), section, "the count of %s", ref)
    if column.collection == SET:
        need_ascending_set(items, section)
    elif column.collection == MAP:
        need_ascending_keys(Cursor(b"", section), [key for key, _ in items])
    return items

def count_below(store, ref):
    """The count of a list, set or map according to its root."""
    node = store.node(ref)
    if node.kind == CLUSTER:
        return node.parsed.rows
    return len(node.parsed) if node.kind == LEAF else sum(node.parsed.counts)

def list_elements(store, column, ref):  # [Trees of lists], [Position branch]
    node = store.node(ref, (CLUSTER, POSITION_BRANCH), "Trees of lists")
    if node.kind == CLUSTER:
        inner = Column(1, column.type, column.optional)
        inner.null_where_absent = column.optional
        yield from Cells(store, node.parsed, {}).column(inner)
        return
    if node.parsed.flags:
        raise Refused("a position branch has flags that this reader does not know")
    for child in node.refs:
        yield from list_elements(store, column, child)

def map_entry(key, value, column):  # [Trees of sets and maps]
    c = Cursor(value, "Trees of sets and maps")
    c.need(len(key) <= 1000 or len(key) == 1004, "the key of a map's entry has %d bytes" % len(key))
    if len(key) == 1004:
        rest = c.data_field()
        c.need(rest, "no bytes are left of a cut key")
        key = key[:1000] + rest
    is_null = c.left == 0
    element = None if is_null else read_element(c, column.type)
    c.need(column.optional if is_null else element is not None, "an entry is null that can't be, or not in this form")
    c.end()
    return utf8(key, "Trees of sets and maps"), element

def set_entry(key, value, column):  # [Trees of sets and maps]
    c, v = Cursor(key, "Trees of sets and maps"), Cursor(value, "Trees of sets and maps")
    tag = c.byte()
    if tag == 0:
        element = None
        c.need(column.optional, "an element is null that can't be")
    elif tag in (2, 3):
        element = set_number(tag, c, v, column)
    elif tag in (4, 5):
        element = set_text(STRING if tag == 4 else DATA, c, v)
    else:
        element = set_plain(tag, c, column)
    c.end()
    v.end()
    c.need(element is None or column.type in (element[0], MIXED), "the type does not fit the column")
    return element

def set_plain(tag, c, column):
    """Reads an element that the key has exactly."""
    if tag == 1:
        c.need(c.left == 1 and c.data[1] <= 1, "a bool is neither 0 nor 1")
        return BOOL, c.byte() == 1
    if tag == 6:
        seconds, nanoseconds = sortable_int(c), int.from_bytes(c.take(4), "big")
        c.need(nanoseconds < 1000000000, "nanoseconds of a date")
        return DATE, (seconds, nanoseconds)
    if tag in (7, 8):
        return (OBJECT_ID, c.take(12)) if tag == 7 else (UUID, c.take(16))
    c.need(tag == 9, "unknown type %d of an element" % tag)
    table = int.from_bytes(c.take(4), "big") if column.type == MIXED else None
    row = int.from_bytes(c.take(8), "big")
    return LINK, row if table is None else (table, row)

def set_text(kind, c, v):
    data = c.take(c.left)
    c.need(len(data) <= 1000 or len(data) == 1004, "the key of a set's entry has %d bytes" % len(c.data))
    if len(data) == 1004:
        v.need(v.left, "no bytes are left of a cut key")
        data = data[:1000] + v.take(v.left)
    return kind, utf8(data, c.section) if kind == STRING else data

def set_number(tag, c, v, column):
    if tag == 3 and column.type == INT:
        return INT, sortable_int(c)
    if column.type in (DECIMAL, MIXED):
        c.take(c.left)  # the value has the element, and only the integrity check compares it with the key
    bits = sortable_double(c) if tag == 3 and c.left else None
    if v.left:
        element = read_element(v, column.type)
        v.need(element is not None and element[0] in (INT, FLOAT, DOUBLE, DECIMAL), "an element is no number")
        v.need((number_value(*element) is None) == (tag == 2), "key and value of an entry differ")
        same = bits is None or column.type not in (FLOAT, DOUBLE) or double_of(bits) == float_value(*element)
        v.need(same, "key and value of an entry differ")
        return element
    v.need(column.type in (FLOAT, DOUBLE), "an entry has no value, and its key does not tell the element")
    if bits is None:
        return column.type, bytes.fromhex("0000c07f" if column.type == FLOAT else "000000000000f87f")
    number = double_of(bits)
    c.need(number == number, "a number is none")
    if column.type == DOUBLE:
        return DOUBLE, struct.pack("<d", number)
    fits = abs(number) <= FLOAT_MAX or abs(number) == float("inf")
    single = struct.pack("<f", number) if fits else b""
    c.need(single and float_value(FLOAT, single) == number, "a number is no float")
    return FLOAT, single

def double_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]

def sortable_int(c):
    return int.from_bytes(c.take(8), "big") - (1 << 63)

def sortable_double(c):
    bits = int.from_bytes(c.take(8), "big")
    return bits ^ (1 << 63) if bits >> 63 else bits ^ (1 << 64) - 1

# ------------------------------------------------------------------------------------- docs/dump-format.md

# dump-format.md does not fix the escapes. These are the escapes of the tool.
ESCAPES = {code: "\\u%04x" % code for code in (*range(32), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)}
ESCAPES.update({ord('"'): '\\"', ord("\\"): "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"})

def text_json(text):
    return "null" if text is None else '"%s"' % text.translate(ESCAPES)

def tagged(tag, json_text):
    return '{"$%s":%s}' % (tag, json_text)

def int_json(value):
    return str(value) if -(1 << 53) <= value <= 1 << 53 else tagged("int", '"%d"' % value)

def float_text(kind, data):
    """The text of a number, and whether it is a JSON number."""
    value = float_value(kind, data)
    if value != value:
        return "NaN:" + data[::-1].hex(), False
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity", False
    if value == 0 and data[-1] & 0x80:
        return "-0.0", False
    text = repr(value)
    if 2.0 ** 53 < abs(value) < 1e16:  # the tool writes an exponent from 2^53 on, and Python from 10^16 on
        sign, digits = ("-" if value < 0 else ""), str(int(abs(value)))
        text = "%s%s.%se+15" % (sign, digits[0], digits[1:].rstrip("0") or "0")
    return text, True

def float_json(kind, data, always_tagged):
    text, is_number = float_text(kind, data)
    if is_number and not always_tagged:
        return text
    return tagged("float" if kind == FLOAT else "double", '"%s"' % text)

def data_json(data):
    return tagged("data", '"%s"' % base64.b64encode(data).decode())

def bytes_json(data):
    """The JSON of bytes of a named tree."""
    try:
        return text_json(data.decode("utf-8"))
    except UnicodeDecodeError:
        return data_json(data)

def uuid_json(data):
    h = data.hex()
    return tagged("uuid", '"%s-%s-%s-%s-%s"' % (h[:8], h[8:12], h[12:16], h[16:20], h[20:]))

def value_json(value, names=None):
    """The JSON of a value as in [Values] of dump-format. `names` are the names of tables, and are given for mixed values."""
    if value is None:
        return "null"
    kind, payload = value
    if kind == BOOL:
        return "true" if payload else "false"
    if kind == INT:
        return int_json(payload) if names is None else tagged("int", '"%d"' % payload)
    if kind in (FLOAT, DOUBLE):
        return float_json(kind, payload, names is not None)
    if kind == STRING:
        return text_json(payload)
    if kind == DATA:
        return data_json(payload)
    if kind == DATE:
        return tagged("date", "[%s,%d]" % (int_json(payload[0]), payload[1]))
    if kind in (OBJECT_ID, DECIMAL):
        return tagged(TYPE_NAMES[kind], '"%s"' % payload.hex())
    if kind == UUID:
        return uuid_json(payload)
    if kind == LINK and names is None:
        return tagged("link", int_json(payload))
    if kind == LINK:
        return tagged("link", "[%s,%s]" % (text_json(names.get(payload[0])), int_json(payload[1])))
    if kind == MIXED_LIST:
        return "[%s]" % ",".join(value_json(item, names) for item in payload)
    return tagged("map", pairs_json(payload, names))

def pairs_json(pairs, names):
    return "[%s]" % ",".join("[%s,%s]" % (text_json(key), value_json(item, names)) for key, item in pairs)

def cell_json(column, value, names):
    names = names if column.type == MIXED else None
    if not column.collection or value is None:
        return value_json(value, names)
    if column.collection == MAP:
        return pairs_json(value, names)
    return "[%s]" % ",".join(value_json(item, names) for item in value)

def column_json(column, names):
    members = [("name", text_json(column.name)), ("type", text_json(TYPE_NAMES[column.type])),
               ("optional", "true" if column.optional else "false"),
               ("collection", text_json(COLLECTION_NAMES[column.collection])), ("index", text_json(column.index))]
    if column.type == LINK:
        members.append(("target", text_json(names.get(column.target))))
    # The tool shows each stored default, also zero, and also if flag bit 1 says that older rows are null.
    if column.stored_default is not None:
        members.append(("default", value_json(column.stored_default)))
    return "{%s}" % ",".join('"%s":%s' % member for member in members)

def dump(store, write):
    database = Database(store)
    names = database.names
    shown = [table for table in database.tables if not table.hidden]
    for table in shown:
        columns = ",".join(column_json(column, names) for column in table.shown)
        write('{"table":%s,"embedded":%s%s,"columns":[%s]}' % (
            text_json(table.name), "true" if table.embedded else "false", ',"elementIDs":true' if table.element_ids else "", columns))
    for table in shown:
        ref = database.table_node(table)
        for key, values in database.rows(table, ref) if ref else ():
            cells = ",".join(cell_json(column, value, names) for column, value in zip(table.shown, values))
            write('{"table":%s,"key":%s,"values":[%s]}' % (text_json(table.name), int_json(key), cells))
    for name, ref in database.named_trees():
        for key, child, data in entries(store, ref, "Named trees"):
            value = entry_value(store, child, data, "Named trees")
            write('{"tree":%s,"key":%s,"value":%s}' % (text_json(name), bytes_json(key), bytes_json(value)))

def check(store, write):
    Database(store)
    write("%d nodes of version %d: all whole" % (store.walk(0), store.page.version))

# ------------------------------------------------------------------------------------------ the command line

def read_key(path):
    try:
        with open(path, "rb") as file:
            data = file.read(1024)
        data = data if len(data) == 64 else bytes.fromhex(data.decode().strip())
    except (OSError, ValueError) as error:
        raise Refused("the key can't be read: %s" % error)
    if len(data) != 64:
        raise Refused("the key has not 64 bytes")
    return data

def main(arguments):
    commands = {"dump": dump, "check": check}
    fits = len(arguments) == 2 or (len(arguments) == 4 and arguments[2] == "--key-file")
    if not fits or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    sys.setrecursionlimit(10000)
    out, code, message = sys.stdout.buffer, 0, None
    try:
        key = read_key(arguments[3]) if len(arguments) == 4 else None
        commands[arguments[0]](Store(arguments[1], key), lambda line: out.write(line.encode("utf-8") + b"\n"))
    except CutShort as damage:
        code, message = 3, "cut short: %s" % damage
    except Damage as damage:
        code, message = 1, "damage: %s" % damage
    except Refused as refusal:
        code, message = 3, "can't be read: %s" % refusal
    out.flush()
    if message:
        print(message, file=sys.stderr)
    return code

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
