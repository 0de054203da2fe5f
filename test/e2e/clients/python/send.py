"""Sends one call of each kind with the public Python client. Arguments: the URL of ingest, and a write key."""

import sys

from segment.analytics.client import Client

failures = []
client = Client(
    sys.argv[2],
    host=sys.argv[1],
    gzip=True,
    on_error=lambda error, items: failures.append(error),
)
client.identify("ada", {"email": "ada@example.com"})
client.track("ada", "Order Completed", {"total": 12.5})
client.page("ada", "Help", "Docs", {"path": "/docs"})
client.screen("ada", None, "Start", {"tab": "search"})
client.group("ada", "acme", {"name": "Acme"})
client.alias("anonymous-7", "ada")
client.shutdown()
if failures:
    sys.exit(f"the client reports failures: {failures}")
