"""The client side of a WebSocket (RFC 6455), without TLS and extensions."""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import struct
import time
from urllib.parse import urlsplit

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
LONGEST_MESSAGE = 25 << 20


class Refused(Exception):
    """The server did not open the WebSocket. The HTTP status is the reason."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}")
        self.status = status


class Closed(Exception):
    """The WebSocket is closed. The code is 1006 if the other side gave no reason."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


class WebSocket:
    def __init__(self, url: str, protocols: list[str], headers: dict[str, str] | None = None, timeout: float = 5) -> None:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        self.socket = socket.create_connection((host, port), timeout)
        self.buffer = bytearray()
        self.message = bytearray()
        self.closing = False
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        lines = [f"GET {parts.path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Protocol: {', '.join(protocols)}",
                 *(f"{name}: {value}" for name, value in (headers or {}).items())]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            self._fill(timeout)
        head = bytes(self.buffer[:end]).decode("latin-1").split("\r\n")
        del self.buffer[:end + 4]
        status = int(head[0].split(" ")[1])
        if status != 101:
            self.drop()
            raise Refused(status, " ".join(head[0].split(" ")[2:]))
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if fields.get("sec-websocket-accept") != base64.b64encode(digest).decode():
            self.drop()
            raise Closed(1002, "the answer to the key is wrong")
        self.protocol = fields.get("sec-websocket-protocol")

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, data: bytes, kind: int = BINARY) -> None:
        length = len(data)
        head = bytes([0x80 | kind])
        if length < 126:
            head += bytes([0x80 | length])
        elif length < 1 << 16:
            head += struct.pack(">BH", 0x80 | 126, length)
        else:
            head += struct.pack(">BQ", 0x80 | 127, length)
        mask = secrets.token_bytes(4)
        whole = (mask * (length // 4 + 1))[:length]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")).to_bytes(length, "big")
        try:
            self.socket.settimeout(5)
            self.socket.sendall(head + mask + masked)
        except OSError as error:
            raise Closed(1006, str(error)) from error

    def receive(self, timeout: float) -> bytes | None:
        """The next binary message; None if no whole message has come in that time."""
        until = time.monotonic() + timeout
        while True:
            while (frame := self._frame()) is None:
                left = until - time.monotonic()
                if not self._fill(max(left, 0)) and left <= 0:
                    return None
            final, kind, data = frame
            if kind == PING:
                self.send(data, PONG)
            elif kind == CLOSE:
                code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
                if not self.closing:
                    self.closing = True
                    try:
                        self.send(data[:2], CLOSE)
                    except Closed:
                        pass
                self.drop()
                raise Closed(code, data[2:].decode(errors="replace"))
            elif kind in (CONTINUATION, BINARY):
                self.message += data
                if len(self.message) > LONGEST_MESSAGE:
                    raise Closed(1009, "the message is too long")
                if final:
                    message, self.message = bytes(self.message), bytearray()
                    return message

    def close(self, code: int = 1000) -> None:
        """Sends a close frame, and waits a short time for that of the other side."""
        try:
            self.closing = True
            self.send(struct.pack(">H", code), CLOSE)
            for _ in range(100):
                if self.receive(0.5) is None:
                    break
        except Closed:
            pass
        self.drop()

    def drop(self) -> None:
        """Ends the connection without a close frame."""
        self.socket.close()

    def _fill(self, timeout: float) -> bool:
        try:
            self.socket.settimeout(timeout or 0.000001)
            data = self.socket.recv(1 << 18)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError as error:
            raise Closed(1006, str(error)) from error
        if not data:
            self.drop()
            raise Closed(1006, "the connection ended")
        self.buffer += data
        return True

    def _frame(self) -> tuple[bool, int, bytes] | None:
        b = self.buffer
        if len(b) < 2:
            return None
        length, at = b[1] & 127, 2
        if length >= 126:
            size = 2 if length == 126 else 8
            if len(b) < 2 + size:
                return None
            length, at = int.from_bytes(b[2:2 + size], "big"), 2 + size
        if length > LONGEST_MESSAGE:
            raise Closed(1009, "the message is too long")
        if len(b) < at + length:
            return None
        final, kind, data = b[0] & 0x80 != 0, b[0] & 15, bytes(b[at:at + length])
        del b[:at + length]
        return final, kind, data
