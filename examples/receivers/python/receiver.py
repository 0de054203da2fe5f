"""A webhook receiver that verifies the signature, with nothing but the standard library."""

import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
# Anyone can sign with an empty key.
if not SECRET:
    raise SystemExit("Set WEBHOOK_SECRET to the shared secret of the destination.")

# The largest webhook holds one event, which has at most 68 KB, and JSON around it.
MAX_BODY_BYTES = 256 * 1024


def is_signed(body, header):
    expected = hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()
    return hmac.compare_digest(expected.encode(), (header or "").encode())


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        # The signature is of the bytes as received, so it is checked before they are parsed.
        body = self.rfile.read(length)
        if not is_signed(body, self.headers.get("X-Signature")):
            return self.answer(401)
        # Answer within five seconds; longer work belongs in a queue. The same webhook may arrive more than once.
        event = json.loads(body)
        self.answer(204)
        print(f"received {event['type']}", flush=True)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
