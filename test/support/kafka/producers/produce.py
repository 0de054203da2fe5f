"""Writes tracking calls with a public producer and each of the codecs: LIBRARY CODEC,CODEC… BROKERS TOPIC COUNT."""

import json
import sys

library, codecs, brokers, topic, count = sys.argv[1:]


def call(codec, number):
    # Long enough for several blocks of a codec when they come together.
    properties = {"number": number, "text": f"{library} {codec} " * 60}
    return json.dumps(
        {"type": "track", "event": "e", "userId": f"{library}-{codec}-{number}", "properties": properties}
    ).encode()


def produce_with_librdkafka(codec):
    from confluent_kafka import Producer

    problems = []
    producer = Producer(
        {"bootstrap.servers": brokers, "compression.type": codec, "linger.ms": 200, "enable.idempotence": True}
    )
    for number in range(int(count)):
        producer.produce(
            topic,
            key=f"{library}-{codec}-{number}",
            value=call(codec, number),
            headers=[("trace", None), ("source-id", b"web"), ("trace", b"2")],
            on_delivery=lambda error, _: problems.append(error) if error else None,
        )
    producer.flush(60)
    if problems:
        raise SystemExit(str(problems[0]))


def produce_with_kafka_python(codec):
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=brokers,
        compression_type=None if codec == "none" else codec,
        linger_ms=200,
        batch_size=262144,
    )
    sent = [
        producer.send(
            topic,
            key=f"{library}-{codec}-{n}".encode(),
            value=call(codec, n),
            headers=[("source-id", b"web")],
        )
        for n in range(int(count))
    ]
    for future in sent:
        future.get(timeout=60)


for codec in codecs.split(","):
    if library == "librdkafka":
        produce_with_librdkafka(codec)
    else:
        produce_with_kafka_python(codec)
