"""Log-in over HTTP."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from typing import Any


class HttpError(Exception):
    def __init__(self, status: int, answer: dict[str, Any]) -> None:
        super().__init__(f"{status} {answer.get('error_code')}: {answer.get('error')}")
        self.status = status


class Stopped(Exception):
    """The file can't be synced, because the app has to be updated or has a fault."""


class User:
    """A user who is logged in."""

    def __init__(self, server: str, app: str) -> None:
        self.api, self.app = f"{server}/api/client/v2.0", app
        self.device: str | None = None
        self.log_in()

    def log_in(self) -> None:
        body = {"options": {"device": {"deviceId": self.device}}} if self.device else {}
        answer = self.request("POST", f"/app/{self.app}/auth/providers/anon-user/login", body)
        self.access, self.refresh_token = answer["access_token"], answer["refresh_token"]
        former, self.id, self.device = getattr(self, "id", None), answer["user_id"], answer["device_id"]
        if former not in (None, self.id):
            raise Stopped("an anonymous user who was logged out can't come back: the files belong to the former one")

    def refresh(self) -> None:
        try:
            self.access = self.request("POST", "/auth/session", token=self.refresh_token)["access_token"]
        except HttpError as error:
            if error.status != 401:
                raise
            self.log_in()

    def access_token(self) -> str:
        middle = self.access.split(".")[1]
        ends = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))["exp"]
        if ends < time.time() + 30:
            self.refresh()
        return self.access

    def route(self) -> str:
        return self.request("GET", f"/app/{self.app}/location")["sync_route"]

    def request(self, method: str, path: str, body: dict[str, Any] | None = None, token: str | None = None) -> dict[str, Any]:
        request = urllib.request.Request(self.api + path, method=method)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            text = error.read()
            raise HttpError(error.code, json.loads(text) if text[:1] == b"{" else {"error": text.decode()}) from error
