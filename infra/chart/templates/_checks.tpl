{{/* Fails with a sentence for each problem of the values that would only show when pods run, or never. */}}
{{- define "tailrace.check" -}}
{{- $problems := list -}}
{{- range $part := list "settings" "secrets" "shared" "references" "upgrade" "topics" "replicas" "other" -}}
  {{- range splitList "\n" (include (printf "tailrace.problemsOf.%s" $part) $) -}}
    {{- with trim . }}{{ $problems = append $problems . }}{{ end -}}
  {{- end -}}
{{- end -}}
{{- if $problems }}{{ fail (printf "\n\n%s\n" (join "\n" (uniq $problems))) }}{{ end -}}
{{- end }}

{{- define "tailrace.processes" -}}ingest,router,delivery,control,jobs{{- end }}

{{/* Settings that the code does not have. */}}
{{- define "tailrace.problemsOf.settings" -}}
{{- $all := dict -}}
{{- range $process, $known := .Files.Get "files/settings.json" | fromJson }}{{ $all = merge $all $known }}{{ end -}}
{{- range $map := list "settings" "settingsFrom" -}}
{{- range $name, $_ := get $.Values $map }}
{{- if not (hasKey $all $name) }}
{{ $map }}.{{ $name }}: Tailrace has no such setting.
{{- end }}
{{- end }}
{{- range $process := splitList "," (include "tailrace.processes" $) }}
{{- $known := include "tailrace.known" (dict "root" $ "component" $process) | fromJson }}
{{- range $name, $_ := get (get $.Values $process) $map }}
{{- if not (hasKey $known $name) }}
{{ $process }}.{{ $map }}.{{ $name }}: {{ $process }} has no such setting.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $process := splitList "," (include "tailrace.processes" .) }}
{{- $settings := include "tailrace.settings" (dict "root" $ "component" $process) | fromJson }}
{{- if not (hasKey $settings "KAFKA_BROKERS") }}
settings.KAFKA_BROKERS is not set: set it to the bootstrap servers as host:port, separated by commas.
{{- else }}
{{- range splitList "," ($settings.KAFKA_BROKERS.value | default "") | compact }}
{{- if not (regexMatch ":[0-9]+$" (trim .)) }}
KAFKA_BROKERS has the broker {{ trim . }} without a port: write it as host:port.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Secrets that would be readable in the release, in a ConfigMap or in `kubectl describe`. */}}
{{- define "tailrace.problemsOf.secrets" -}}
{{- range $level := concat (list "") (splitList "," (include "tailrace.processes" .)) -}}
{{- $values := $.Values -}}
{{- $known := dict -}}
{{- $path := "" -}}
{{- if $level -}}
  {{- $values = get $.Values $level -}}
  {{- $known = include "tailrace.known" (dict "root" $ "component" $level) | fromJson -}}
  {{- $path = printf "%s." $level -}}
{{- else -}}
  {{- range $process, $of := $.Files.Get "files/settings.json" | fromJson }}{{ $known = merge $known $of }}{{ end -}}
{{- end -}}
{{- range $name, $value := $values.settings }}
{{- $text := include "tailrace.text" $value }}
{{- if and $text (dig $name "secret" false $known) }}
{{ $path }}settings.{{ $name }} is a secret, so it may not be a plain value: write it into a Secret, and refer to it with {{ $path }}settingsFrom.{{ $name }}.secretKeyRef.
{{- else if contains "PRIVATE KEY-----" $text }}
{{ $path }}settings.{{ $name }} contains a private key, so it may not be a plain value: write it into a Secret, and refer to it with {{ $path }}settingsFrom.{{ $name }}.secretKeyRef.
{{- else if regexMatch "//[^/@]*:[^/@]*@" $text }}
{{ $path }}settings.{{ $name }} contains a password, so it may not be a plain value: write the URL into a Secret, and refer to it with {{ $path }}settingsFrom.{{ $name }}.secretKeyRef.
{{- end }}
{{- end }}
{{- range $name, $from := $values.settingsFrom }}
{{- if and (dig $name "secret" false $known) (not (dig "secretKeyRef" "name" "" ($from | default dict))) }}
{{ $path }}settingsFrom.{{ $name }} is a secret, so it needs a secretKeyRef with name and key.
{{- end }}
{{- end }}
{{- range $variable := $values.pods.extraEnv }}
{{- $of := printf "%spods" $path }}
{{- if or (hasKey $known $variable.name) (dig (trimSuffix "_FILE" $variable.name) "file" "" $known) }}
{{ $of }}.extraEnv: {{ $variable.name }} is a setting of Tailrace: set it in {{ $path }}settings or {{ $path }}settingsFrom.
{{- else if hasPrefix "TAILRACE_" $variable.name }}
{{ $of }}.extraEnv: Tailrace has no setting {{ $variable.name }}.
{{- else if and $variable.value (regexMatch "(PASSWORD|SECRET|TOKEN|PRIVATE_KEY)$" $variable.name) }}
{{ $of }}.extraEnv: {{ $variable.name }} looks like a secret, so it may not be a plain value: use valueFrom.secretKeyRef.
{{- end }}
{{- end }}
{{- end }}
{{- range $field := splitList "," (include "tailrace.plainSecrets" .Values.configuration.inline) | compact }}
configuration.inline: {{ $field }} is a secret, which would be in a ConfigMap: refer to it with env:NAME or file:PATH, or write the configuration into a Secret, and name it in configuration.existingSecret.
{{- end }}
{{- $control := include "tailrace.settings" (dict "root" . "component" "control") | fromJson }}
{{- if not (or $control.TAILRACE_API_TOKEN $control.TAILRACE_API_READ_TOKEN) }}
settingsFrom.TAILRACE_API_TOKEN is not set: control needs it. Create a Secret with a token of `openssl rand -hex 24`, and refer to it with secretKeyRef.
{{- end }}
{{- if and $control.TAILRACE_SECRET_KEY_PREVIOUS (not $control.TAILRACE_SECRET_KEY) }}
settingsFrom.TAILRACE_SECRET_KEY is not set, but TAILRACE_SECRET_KEY_PREVIOUS is: set it to the newer of the two keys.
{{- end }}
{{- end }}

{{/*
The fields of a configuration that have a secret as plain text, separated by commas. The values of headers are secret where secretHeaders has them, or
their name says so: the same text is in packages/config/src/rules/destination/webhook.ts.
*/}}
{{- define "tailrace.plainSecrets" -}}
{{- $reference := "^(env|file):" }}
{{- range $index, $destination := .destinations | default list }}
{{- if kindIs "map" $destination }}
{{- $of := printf "destinations[%d].settings" $index }}
{{- $settings := $destination.settings | default dict }}
{{- range $name := list "sharedSecret" "previousSharedSecret" }}
{{- with get $settings $name }}{{ if not (regexMatch $reference (toString .)) }}{{ $of }}.{{ $name }},{{ end }}{{ end }}
{{- end }}
{{- range $name := list "password" "token" }}
{{- with get ($settings.auth | default dict) $name }}{{ if not (regexMatch $reference (toString .)) }}{{ $of }}.auth.{{ $name }},{{ end }}{{ end }}
{{- end }}
{{- with get ($settings.oauth2 | default dict) "clientSecret" }}{{ if not (regexMatch $reference (toString .)) }}{{ $of }}.oauth2.clientSecret,{{ end }}{{ end }}
{{- range $name := list "key" "previousKey" }}
{{- if get ($settings.ed25519 | default dict) $name }}{{ $of }}.ed25519.{{ $name }},{{ end }}
{{- end }}
{{- with get ($settings.tls | default dict) "clientKey" }}{{ if not (regexMatch $reference (toString .)) }}{{ $of }}.tls.clientKey,{{ end }}{{ end }}
{{- range $number, $webhook := $settings.webhooks | default list }}
{{- $secret := list }}
{{- range $webhook.secretHeaders | default list }}{{ $secret = append $secret (lower (toString .)) }}{{ end }}
{{- range $name, $value := $webhook.headers | default dict }}
{{- $isSecret := or (has (lower $name) $secret) (regexMatch "(?i)(^|[-_.])(authorization|cookie|[a-z0-9]*(token|secret|password)|([a-z0-9]*(access|account|admin|api|app|auth|client|encryption|license|master|private|secret|service|session|shared|signing|subscription|user|webhook))?key)s?[0-9]*($|[-_.])" $name) }}
{{- if and $isSecret (not (regexMatch $reference (toString $value))) }}{{ $of }}.webhooks[{{ $number }}].headers,{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- range $index, $notification := .notifications | default list }}
{{- if kindIs "map" $notification }}
{{- range $place := list "webhook.url" "webhook.routingKey" "email.password" }}
{{- $step := splitList "." $place }}
{{- with get (get $notification (first $step) | default dict) (last $step) }}{{ if not (regexMatch $reference (toString .)) }}{{ printf "notifications[%d].%s" $index $place }},{{ end }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tailrace.settingsOfTopics" -}}TAILRACE_TOPIC_PREFIX,TAILRACE_PARTITIONS,TAILRACE_REPLICATION,TAILRACE_RETRY_SCHEDULE{{- end }}

{{/* Settings that must be the same in all processes. */}}
{{- define "tailrace.problemsOf.shared" -}}
{{- range $process := splitList "," (include "tailrace.processes" .) }}
{{- range $map := list "settings" "settingsFrom" }}
{{- range $name := append (splitList "," (include "tailrace.settingsOfTopics" $)) "TAILRACE_OWNER" }}
{{- if hasKey (get (get $.Values $process) $map) $name }}
{{ $process }}.{{ $map }}.{{ $name }} would differ from the other services: set it in settings, for all of them.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* References whose text the chart would have to know. */}}
{{- define "tailrace.problemsOf.references" -}}
{{- $needed := list "KAFKA_BROKERS" "TAILRACE_DATA_DIR" "TAILRACE_INGEST_PORT" "TAILRACE_CONTROL_PORT" "TAILRACE_METRICS_PORT" "TAILRACE_SHUTDOWN_DELAY" "TAILRACE_SHUTDOWN_GRACE" }}
{{- $policy := .Values.networkPolicy }}
{{- if $policy.enabled }}{{ $needed = append $needed "TAILRACE_ALLOW_PRIVATE_NETWORKS" }}{{ end }}
{{- $ofTopics := splitList "," (include "tailrace.settingsOfTopics" .) }}
{{- $fields := include "tailrace.serverFields" . | fromJson }}
{{- range $level := concat (list "") (splitList "," (include "tailrace.processes" .)) }}
{{- $path := empty $level | ternary "" (printf "%s." $level) }}
{{- range $name, $from := get (empty $level | ternary $.Values (get $.Values $level)) "settingsFrom" }}
{{- if and $from (or (has $name $needed) (and (empty $level) (has $name $ofTopics))) }}
{{ $path }}settingsFrom.{{ $name }}: the chart needs the value itself. Set it in {{ $path }}settings.
{{- end }}
{{- $field := get $fields $name }}
{{- if and $from $policy.enabled $field (not (get $policy $field)) }}
{{ $path }}settingsFrom.{{ $name }}: the chart cannot read the host and the port, so no network policy would allow them. Name its pods or addresses in networkPolicy.{{ $field }}.
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
What an upgrade would leave behind or cannot change, where Helm can ask the cluster. The name of the workload may have changed too.
*/}}
{{- define "tailrace.problemsOf.upgrade" -}}
{{- $prefix := include "tailrace.setting" (dict "root" . "component" "control" "name" "TAILRACE_TOPIC_PREFIX") }}
{{- range (lookup "apps/v1" "StatefulSet" .Release.Namespace "").items }}
{{- $labels := .metadata.labels | default dict }}
{{- if and (eq (get $labels "app.kubernetes.io/name") "tailrace") (eq (get $labels "app.kubernetes.io/instance") $.Release.Name) }}
{{- range (first .spec.template.spec.containers).env }}
{{- if and (eq .name "TAILRACE_TOPIC_PREFIX") (ne .value $prefix) }}
The topics of this release begin with {{ .value }}, and the upgrade would leave them for others that begin with {{ $prefix }}: set settings.TAILRACE_TOPIC_PREFIX to {{ .value }}. To begin with new topics, uninstall the release first.
{{- end }}
{{- end }}
{{- if eq .metadata.name (printf "%s-control" (include "tailrace.fullname" $)) }}
{{- $size := "" }}
{{- range .spec.volumeClaimTemplates }}{{ $size = .spec.resources.requests.storage }}{{ end }}
{{- $persistence := $.Values.control.persistence }}
{{- $wanted := and $persistence.enabled (not $persistence.existingClaim) | ternary $persistence.size "" }}
{{- if ne (include "tailrace.bytes" $size) (include "tailrace.bytes" $wanted) }}
control.persistence: the StatefulSet {{ .metadata.name }} has volumes of {{ $size | default "0" }}, and Kubernetes cannot change that to {{ $wanted | default "0" }}. To grow a volume, change its claim. Then run `kubectl -n {{ $.Release.Namespace }} delete statefulset {{ .metadata.name }} --cascade=orphan`, which stops no pod, and upgrade again.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A quantity of Kubernetes in bytes: the cluster writes `1024Mi` as `1Gi`. */}}
{{- define "tailrace.bytes" -}}
{{- $text := include "tailrace.text" . -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $powers := dict "" 0 "k" 1 "M" 2 "G" 3 "T" 4 "P" 5 -}}
{{- $unit := trimPrefix $number $text -}}
{{- $factor := hasSuffix "i" $unit | ternary 1024.0 1000.0 -}}
{{- $bytes := float64 $number -}}
{{- range until (get $powers (trimSuffix "i" $unit | replace "K" "k") | default 0 | int) }}{{ $bytes = mulf $bytes $factor }}{{ end -}}
{{- int64 $bytes -}}
{{- end }}

{{/* Retry topics that would be missing. */}}
{{- define "tailrace.problemsOf.topics" -}}
{{- $setting := dict "root" . "component" "jobs" -}}
{{- if eq .Values.topics.manage "external" }}
{{- $schedule := include "tailrace.setting" (merge (dict "name" "TAILRACE_RETRY_SCHEDULE") $setting) }}
{{- $prefix := include "tailrace.setting" (merge (dict "name" "TAILRACE_TOPIC_PREFIX") $setting) }}
{{- range splitList "," (include "tailrace.tiers" $schedule) }}
{{- if not (has . $.Values.topics.retryTiers) }}
TAILRACE_RETRY_SCHEDULE has the delay {{ . }}, but topics.retryTiers does not: create the topic {{ $prefix }}deliveries.retry.{{ . }}, then add {{ . }} to topics.retryTiers.
{{- end }}
{{- end }}
{{- end }}
{{- if and (eq .Values.topics.manage "strimzi") (not .Values.strimzi.cluster) }}
strimzi.cluster is not set: with topics.manage strimzi, set it to the name of the Kafka object.
{{- end }}
{{- if .Values.strimzi.users }}
{{- if not .Values.strimzi.cluster }}
strimzi.cluster is not set: with strimzi.users, set it to the name of the Kafka object.
{{- end }}
{{- if and .Values.strimzi.namespace (ne .Values.strimzi.namespace .Release.Namespace) }}
strimzi.users needs Kafka in the namespace of the release, because pods cannot read Secrets of another: create the users yourself, and copy their Secrets.
{{- end }}
{{- end }}
{{- end }}

{{/* Replicas without work, and autoscalers that cannot work. */}}
{{- define "tailrace.problemsOf.replicas" -}}
{{- $partitions := include "tailrace.setting" (dict "root" . "component" "jobs" "name" "TAILRACE_PARTITIONS") | int -}}
{{- range $component := list "ingest" "router" "delivery" }}
{{- $values := get $.Values $component }}
{{- $scaling := $values.autoscaling }}
{{- $isMember := ne $component "ingest" }}
{{- if $scaling.enabled }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
{{ $component }}.autoscaling.minReplicas ({{ $scaling.minReplicas }}) is above maxReplicas ({{ $scaling.maxReplicas }}).
{{- end }}
{{- if and $isMember (gt (int $scaling.maxReplicas) $partitions) }}
{{ $component }}.autoscaling.maxReplicas ({{ $scaling.maxReplicas }}) is above settings.TAILRACE_PARTITIONS ({{ $partitions }}): a replica without a partition has no work. Lower it, or add partitions first.
{{- end }}
{{- if and $isMember (eq $.Values.autoscaling.trigger "prometheus") (not $.Values.autoscaling.prometheus.serverAddress) }}
autoscaling.prometheus.serverAddress is not set: {{ $component }}.autoscaling needs the URL of Prometheus.
{{- end }}
{{- if and $isMember (eq $.Values.autoscaling.trigger "kafka") (not $.Values.autoscaling.kafka.authenticationRef) }}
{{- $settings := include "tailrace.settings" (dict "root" $ "component" $component) | fromJson }}
{{- if or (eq (dig "KAFKA_SSL" "value" "" $settings) "true") $settings.KAFKA_SASL_MECHANISM }}
autoscaling.kafka.authenticationRef is not set: KEDA needs its own access to Kafka. Name a TriggerAuthentication with tls, sasl and the credentials.
{{- end }}
{{- end }}
{{- else if and $isMember (gt (int $values.replicas) $partitions) }}
{{ $component }}.replicas ({{ $values.replicas }}) is above settings.TAILRACE_PARTITIONS ({{ $partitions }}): a replica without a partition has no work. Lower it, or add partitions first.
{{- end }}
{{- end }}
{{- end }}

{{- define "tailrace.problemsOf.other" -}}
{{- $name := include "tailrace.fullname" . }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) }}
fullnameOverride: names of Services cannot begin with "{{ $name }}". Set it to lower-case letters, digits and dashes, with a letter first.
{{- end }}
{{- range $component := list "ingest" "router" "delivery" "control" }}
{{- $of := dict "root" $ "component" $component }}
{{- $metrics := include "tailrace.setting" (merge (dict "name" "TAILRACE_METRICS_PORT") $of) }}
{{- $http := include "tailrace.httpPort" $of }}
{{- if has "0" (list $metrics $http) }}
{{ $component }}: a port is 0, so probes and Services cannot reach it: set TAILRACE_METRICS_PORT and the port of the API to fixed numbers.
{{- end }}
{{- if eq $metrics $http }}
{{ $component }}: TAILRACE_METRICS_PORT and the port of the API are the same, {{ $http }}.
{{- end }}
{{- end }}
{{- if not (hasPrefix "/" (include "tailrace.setting" (dict "root" . "component" "control" "name" "TAILRACE_DATA_DIR"))) }}
control.settings.TAILRACE_DATA_DIR must be an absolute path, because a volume is mounted there.
{{- end }}
{{- range $component := list "ingest" "control" }}
{{- $values := get $.Values $component }}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) }}
{{ $component }}.ingress.hosts is empty: name at least one host.
{{- end }}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) }}
{{ $component }}.httpRoute.parentRefs is empty: name the Gateway.
{{- end }}
{{- end }}
{{- if and .Values.control.persistence.existingClaim (gt (int .Values.control.replicas) 1) }}
control.replicas is above 1, but control.persistence.existingClaim is one volume, which one replica can use: leave one of them out.
{{- end }}
{{- if and .Values.configuration.inline .Values.configuration.existingSecret.name }}
configuration.inline and configuration.existingSecret are both set: use one of them.
{{- end }}
{{- end }}
