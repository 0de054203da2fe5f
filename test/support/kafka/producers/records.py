"""Writes records to Kafka with librdkafka: produce.py BROKERS FILE. The file holds a list in JSON of records with topic,
partition, key, value (in base64, or null) and headers, which are a list of name and value (text, or null)."""

import base64
import json
import sys

from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": sys.argv[1], "enable.idempotence": True})
failures = []


def report(error, message):
    if error is not None:
        failures.append(str(error))


with open(sys.argv[2], encoding="utf-8") as file:
    records = json.load(file)
for record in records:
    value = record["value"]
    producer.produce(
        record["topic"],
        partition=record["partition"],
        key=record["key"],
        value=None if value is None else base64.b64decode(value),
        headers=[(name, None if header is None else header.encode()) for name, header in record["headers"]],
        on_delivery=report,
    )
producer.flush(30)
if failures or len(producer) > 0:
    sys.exit(f"not written: {failures}")
