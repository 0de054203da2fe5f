"""Sends one call over HTTP with the standard library, and repeats it until it is accepted."""

import base64
import json
import os
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("TAILRACE_ENDPOINT", "http://127.0.0.1:8080")
WRITE_KEY = os.environ.get("WRITE_KEY", "wk_demo")


def send(call, attempts=10):
    # With a messageId, a call that is sent again after a lost answer is recognised as a repeat.
    body = json.dumps({"messageId": str(uuid.uuid4()), **call}).encode()
    authorization = "Basic " + base64.b64encode(f"{WRITE_KEY}:".encode()).decode()
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    for attempt in range(attempts):
        request = urllib.request.Request(f"{URL}/v1/{call['type']}", body, headers)
        wait = min(0.1 * 2**attempt, 10)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            # 429 and 5xx are temporary; every other error says what is wrong with the call.
            if error.code != 429 and error.code < 500:
                raise SystemExit(f"refused with {error.code}: {error.read().decode()}")
            wait = max(wait, float(error.headers.get("Retry-After", "0")))
        except OSError:
            pass
        time.sleep(wait)
    raise SystemExit("not accepted")


print(send({"type": "track", "userId": "ada", "event": "Order Completed", "properties": {"total": 25.5}}))
