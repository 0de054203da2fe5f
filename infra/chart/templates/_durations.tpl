{{/* Durations as settings have them: `250ms`, `10s`, `1m`, `4h`, `7d`. */}}

{{- define "tailrace.milliseconds" -}}
{{- $number := regexFind "^[0-9]+" . -}}
{{- $unit := trimPrefix $number . -}}
{{- mul (int64 $number) (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) $unit | default 0) -}}
{{- end }}

{{/* The shortest exact text of milliseconds, which is the name of a retry topic: 60000 is `1m`, 90000 is `90s`. */}}
{{- define "tailrace.duration" -}}
{{- $ms := int64 . -}}
{{- $text := printf "%dms" $ms -}}
{{- range $unit := list (list "s" 1000) (list "m" 60000) (list "h" 3600000) (list "d" 86400000) -}}
  {{- $size := int64 (last $unit) -}}
  {{- if and (ge $ms $size) (eq (mod $ms $size) 0) }}{{ $text = printf "%d%s" (div $ms $size) (first $unit) }}{{ end -}}
{{- end -}}
{{- $text -}}
{{- end }}

{{/* The delays of a retry schedule that have a topic, each once, in ascending order, separated by commas. */}}
{{- define "tailrace.tiers" -}}
{{- $byLength := dict -}}
{{- range splitList "," . -}}
  {{- $ms := include "tailrace.milliseconds" (trim .) -}}
  {{- $_ := set $byLength (printf "%020s" $ms | replace " " "0") (include "tailrace.duration" $ms) -}}
{{- end -}}
{{- $tiers := list -}}
{{- range keys $byLength | sortAlpha }}{{ $tiers = append $tiers (get $byLength .) }}{{ end -}}
{{- join "," $tiers -}}
{{- end }}

{{/* Seconds between SIGTERM and SIGKILL: the process drains within delay and grace, and logs what did not close. */}}
{{- define "tailrace.terminationGracePeriodSeconds" -}}
{{- $total := 5000 -}}
{{- range $name := list "TAILRACE_SHUTDOWN_DELAY" "TAILRACE_SHUTDOWN_GRACE" -}}
  {{- $duration := include "tailrace.setting" (dict "root" $.root "component" $.component "name" $name) -}}
  {{- if $duration }}{{ $total = add $total (include "tailrace.milliseconds" $duration) }}{{ end -}}
{{- end -}}
{{- div (add $total 999) 1000 -}}
{{- end }}
