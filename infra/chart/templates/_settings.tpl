{{/*
Settings of the code. files/settings.json, generated from the code, says which process reads which; a process is `ingest`,
`router`, `delivery`, `control` or `jobs`, which runs the command line.
*/}}

{{/* The settings that a process knows, as JSON. */}}
{{- define "tailrace.known" -}}
{{- get (.root.Files.Get "files/settings.json" | fromJson) (eq .component "jobs" | ternary "cli" .component) | toJson -}}
{{- end }}

{{/* A plain value as the text of a variable: items of a list are separated by commas; whole numbers have no exponent. */}}
{{- define "tailrace.text" -}}
{{- if kindIs "slice" . -}}
{{- range $index, $item := . }}{{ if $index }},{{ end }}{{ include "tailrace.text" $item }}{{ end -}}
{{- else if kindIs "float64" . -}}
{{- if eq . (floor .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- else if not (kindIs "invalid" .) -}}
{{- . | toString | trim -}}
{{- end -}}
{{- end }}

{{/*
The settings of a process, as JSON: {"NAME": {"value": "text"}} or {"NAME": {"from": {"secretKeyRef": {...}}}}. Settings of the
process itself win over those of all, and both win over those that the chart derives.
*/}}
{{- define "tailrace.settings" -}}
{{- $root := .root -}}
{{- $known := include "tailrace.known" . | fromJson -}}
{{- $found := include "tailrace.derivedSettings" . | fromJson -}}
{{- range $level := list $root.Values (get $root.Values .component) -}}
  {{- range $name, $value := $level.settings -}}
    {{- $text := include "tailrace.text" $value -}}
    {{- if $text }}{{ $_ := set $found $name (dict "value" $text) }}{{ end -}}
  {{- end -}}
  {{- range $name, $from := $level.settingsFrom -}}
    {{- if $from }}{{ $_ := set $found $name (dict "from" $from) }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- range $name := keys $found -}}
  {{- if not (hasKey $known $name) }}{{ $_ := unset $found $name }}{{ end -}}
{{- end -}}
{{- toJson $found -}}
{{- end }}

{{/* Settings that follow from the release and from other values. */}}
{{- define "tailrace.derivedSettings" -}}
{{- $root := .root -}}
{{- $name := include "tailrace.fullname" $root -}}
{{- $found := dict "TAILRACE_TOPIC_PREFIX" (dict "value" (printf "%s." $name)) "KAFKA_CLIENT_ID" (dict "value" $name) -}}
{{- $_ := set $found "TAILRACE_OWNER" (dict "value" (printf "%s/%s" $root.Release.Namespace $root.Release.Name)) -}}
{{- $_ := set $found "TAILRACE_PEERS" (dict "value" (printf "%s-%s-pods" $name .component)) -}}
{{- if eq .component "jobs" -}}
  {{- $_ := set $found "TAILRACE_URL" (dict "value" (printf "http://%s-control:%v" $name $root.Values.control.service.port)) -}}
  {{- $targets := list -}}
  {{- range $service := list "ingest" "router" "delivery" "control" -}}
    {{- $port := include "tailrace.setting" (dict "root" $root "component" $service "name" "TAILRACE_METRICS_PORT") -}}
    {{- $targets = append $targets (printf "%s=%s-%s-pods:%s" $service $name $service $port) -}}
  {{- end -}}
  {{- $_ := set $found "TAILRACE_DOCTOR_TARGETS" (dict "value" (join "," $targets)) -}}
{{- end -}}
{{- if $root.Values.strimzi.users -}}
  {{- $user := printf "%s-%s" $name (.user | default .component) -}}
  {{- $authority := dict "name" (printf "%s-cluster-ca-cert" $root.Values.strimzi.cluster) "key" "ca.crt" -}}
  {{- $_ := set $found "KAFKA_SSL" (dict "value" "true") -}}
  {{- $_ := set $found "KAFKA_SSL_CA" (dict "from" (dict "secretKeyRef" $authority)) -}}
  {{- if eq $root.Values.strimzi.authentication "tls" -}}
    {{- $_ := set $found "KAFKA_SSL_CERT" (dict "from" (dict "secretKeyRef" (dict "name" $user "key" "user.crt"))) -}}
    {{- $_ := set $found "KAFKA_SSL_KEY" (dict "from" (dict "secretKeyRef" (dict "name" $user "key" "user.key"))) -}}
  {{- else -}}
    {{- $_ := set $found "KAFKA_SASL_MECHANISM" (dict "value" "scram-sha-512") -}}
    {{- $_ := set $found "KAFKA_SASL_USERNAME" (dict "value" $user) -}}
    {{- $_ := set $found "KAFKA_SASL_PASSWORD" (dict "from" (dict "secretKeyRef" (dict "name" $user "key" "password"))) -}}
  {{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end }}

{{/* The value of one setting of a process where it is plain, else its default: (dict "root" $ "component" "ingest" "name" "LOG_LEVEL"). */}}
{{- define "tailrace.setting" -}}
{{- $settings := include "tailrace.settings" . | fromJson -}}
{{- $known := include "tailrace.known" . | fromJson -}}
{{- dig .name "value" (dig .name "default" "" $known) $settings -}}
{{- end }}

{{/* Whether the text of a setting of a process is known to the cluster alone. */}}
{{- define "tailrace.isReference" -}}
{{- if dig .name "from" "" (include "tailrace.settings" . | fromJson) }}true{{ end -}}
{{- end }}

{{/* Whether a setting of a process is mounted as a file. */}}
{{- define "tailrace.isFile" -}}
{{- if and (eq .root.Values.secretsAs "files") (dig .name "file" "" .known) (dig "from" "secretKeyRef" "" .setting) }}true{{ end -}}
{{- end }}

{{- define "tailrace.secretsFolder" -}}/etc/tailrace/secrets{{- end }}

{{/* The variables of a container. `omit` names settings that it does not need. */}}
{{- define "tailrace.env" -}}
{{- $root := .root -}}
{{- $known := include "tailrace.known" . | fromJson -}}
{{- $omit := .omit | default list -}}
{{- range $name, $setting := include "tailrace.settings" . | fromJson }}
{{- if not (has $name $omit) }}
{{- if include "tailrace.isFile" (dict "root" $root "known" $known "name" $name "setting" $setting) }}
- name: {{ dig $name "file" "" $known }}
  value: {{ include "tailrace.secretsFolder" $root }}/{{ $name }}
{{- else if $setting.from }}
- name: {{ $name }}
  valueFrom:
    {{- toYaml $setting.from | nindent 4 }}
{{- else }}
- name: {{ $name }}
  value: {{ $setting.value | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The sources of the volume with the secrets that are files; nothing where there are none. */}}
{{- define "tailrace.secretSources" -}}
{{- $root := .root -}}
{{- $known := include "tailrace.known" . | fromJson -}}
{{- $omit := .omit | default list -}}
{{- range $name, $setting := include "tailrace.settings" . | fromJson }}
{{- if and (not (has $name $omit)) (include "tailrace.isFile" (dict "root" $root "known" $known "name" $name "setting" $setting)) }}
- secret:
    name: {{ $setting.from.secretKeyRef.name | quote }}
    items:
      - key: {{ $setting.from.secretKeyRef.key | quote }}
        path: {{ $name }}
    {{- if $setting.from.secretKeyRef.optional }}
    optional: true
    {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The versions of the Secrets and ConfigMaps that a process reads, where the cluster can be asked; else nothing. */}}
{{- define "tailrace.references" -}}
{{- $root := .root -}}
{{- $omit := .omit | default list -}}
{{- $versions := dict -}}
{{- range $name, $setting := include "tailrace.settings" . | fromJson -}}
  {{- range $key, $kind := dict "secretKeyRef" "Secret" "configMapKeyRef" "ConfigMap" -}}
    {{- $referred := dig "from" $key "name" "" $setting -}}
    {{- if and $referred $root.Values.rollOnReferenceChange (not (has $name $omit)) -}}
      {{- with lookup "v1" $kind $root.Release.Namespace $referred -}}
        {{- $_ := set $versions (printf "%s/%s" $kind $referred) .metadata.resourceVersion -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if $versions }}{{ toJson $versions | sha256sum | trunc 16 }}{{ end -}}
{{- end }}
