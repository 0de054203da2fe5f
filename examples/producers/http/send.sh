#!/bin/sh
# Sends one call and one batch with curl. TAILRACE_ENDPOINT and WRITE_KEY name the service and the source.
set -eu
url=${TAILRACE_ENDPOINT:-http://127.0.0.1:8080}
key=${WRITE_KEY:-wk_demo}

curl --silent --show-error --fail-with-body -u "$key:" "$url/v1/track" \
  -d '{"userId":"ada","event":"Order Completed","properties":{"total":25.5},"messageId":"order-17"}'
echo
# A batch is answered with 200 even if single calls are invalid; they are listed under "rejected".
curl --silent --show-error --fail-with-body -u "$key:" "$url/v1/batch" -d '{"batch":[
  {"type":"identify","userId":"ada","traits":{"plan":"pro"}},
  {"type":"page","userId":"ada","name":"Pricing"}]}'
echo
