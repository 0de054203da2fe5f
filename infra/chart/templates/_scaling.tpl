{{/*
The query that scales router and delivery.

- 2, one replica more: the oldest unfinished record of `events` or `deliveries` is late in the median replica, and the event loops are busy.
  Retry topics do not count, because what is due later is not late; and a slow receiver makes its records late, but no loop busy.
- 0.5, one replica less: for ten minutes nothing was late, and the remaining replicas would not have been busy.
- 1 otherwise. Without any series there is no result.
*/}}
{{- define "tailrace.scalingQuery" -}}
{{- $scaling := (get .root.Values .component).autoscaling -}}
{{- $topic := include "tailrace.scalingTopic" . -}}
{{- $labels := printf "namespace=%q,tailrace_release=%q,tailrace_component=%q" .root.Release.Namespace .root.Release.Name .component -}}
{{- with .root.Values.autoscaling.prometheus.selector }}{{ $labels = printf "%s,%s" $labels . }}{{ end -}}
{{- $late := printf "tailrace_consumer_lag_seconds{%s,topic=%q}" $labels $topic -}}
{{- $busy := printf "rate(tailrace_event_loop_busy_seconds_total{%s}[2m])" $labels -}}
2 * (
  (quantile(0.5, {{ $late }}) > bool {{ $scaling.lateSeconds }})
  * (avg({{ $busy }}) > bool {{ $scaling.busyShare }})
) > 0
or
0.5 * (
  (max_over_time(max({{ $late }})[10m:30s]) < bool {{ $scaling.lateSeconds }})
  * (max_over_time((sum({{ $busy }}) / (count({{ $busy }}) - 1))[10m:30s]) < bool {{ $scaling.idleShare }})
) > 0
or
count({{ $busy }}) > bool 0
{{- end }}

{{/* The topic whose records a replica more would process sooner. */}}
{{- define "tailrace.scalingTopic" -}}
{{- include "tailrace.setting" (dict "root" .root "component" .component "name" "TAILRACE_TOPIC_PREFIX") -}}
{{- eq .component "router" | ternary "events" "deliveries" -}}
{{- end }}
