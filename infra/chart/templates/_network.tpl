{{/* Rules of the network policies. */}}

{{/*
Peers for Kafka and other servers of the operator, which may be in private networks: those of the values, or every pod and every address
except link-local ones, where clouds have their metadata services.
*/}}
{{- define "tailrace.serverPeers" -}}
{{- if . -}}
{{- toYaml . }}
{{- else -}}
- namespaceSelector: {}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [169.254.0.0/16, 168.63.129.16/32, 100.100.100.200/32, 192.0.0.192/32]
- ipBlock:
    cidr: ::/0
    except: ['fe80::/10', 'fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:42::42/128', 'fd00:a9fe:a9fe::/48']
{{- end -}}
{{- end }}

{{/* The port of an address: of its text, or of its scheme. */}}
{{- define "tailrace.portOf" -}}
{{- $port := regexFind ":[0-9]+$" (regexFind "^[a-z]+://[^/?#]+" . | default .) | trimPrefix ":" -}}
{{- $port | default (hasPrefix "http://" . | ternary "80" "443") -}}
{{- end }}

{{/* Egress to a list of ports: (dict "peers" (list ...) "ports" (list "9092")). */}}
{{- define "tailrace.egress" -}}
- to:
    {{- include "tailrace.serverPeers" .peers | nindent 4 }}
  ports:
    {{- range .ports | uniq | sortAlpha }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end }}

{{/* The servers that a process connects to because of its settings: name servers, brokers, schema registry, token server, traces, egress proxy. */}}
{{- define "tailrace.egressOfSettings" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- if and $policy.dns $policy.dnsPorts }}
- to:
    {{- toYaml $policy.dns | nindent 4 }}
  ports:
    {{- range $policy.dnsPorts }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end }}
{{- $ports := list }}
{{- range $policy.kafkaPorts }}{{ $ports = append $ports (toString .) }}{{ end }}
{{- range splitList "," (include "tailrace.setting" (dict "root" .root "component" .component "name" "KAFKA_BROKERS")) }}
{{- with regexFind ":[0-9]+$" (trim .) }}{{ $ports = append $ports (trimPrefix ":" .) }}{{ end }}
{{- end }}
{{- $kafka := $policy.kafka }}
{{- with .root.Values.strimzi.cluster }}
{{- $namespace := dict "matchLabels" (dict "kubernetes.io/metadata.name" ($.root.Values.strimzi.namespace | default $.root.Release.Namespace)) }}
{{- $kafka = $kafka | default (list (dict "namespaceSelector" $namespace "podSelector" (dict "matchLabels" (dict "strimzi.io/cluster" .)))) }}
{{- end }}
{{- if $ports }}
{{ include "tailrace.egress" (dict "peers" $kafka "ports" $ports) }}
{{- end }}
{{- range $name, $field := include "tailrace.serverFields" . | fromJson }}
{{- $of := dict "root" $.root "component" $.component "name" $name }}
{{- $peers := get $policy $field }}
{{- if include "tailrace.isReference" $of }}
- to:
    {{- toYaml $peers | nindent 4 }}
  ports:
    # The port is in the value that is referred to.
    - { protocol: TCP }
{{- else }}
{{- with include "tailrace.setting" $of }}
{{ include "tailrace.egress" (dict "peers" $peers "ports" (list (include "tailrace.portOf" .))) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The fields of networkPolicy by the settings with the URLs of servers, as JSON. */}}
{{- define "tailrace.serverFields" -}}
{{- $fields := dict "SCHEMA_REGISTRY_URL" "schemaRegistry" "KAFKA_OAUTH_TOKEN_URL" "tokenServer" "TAILRACE_EGRESS_PROXY" "egressProxy" -}}
{{- range list "OTEL_EXPORTER_OTLP_ENDPOINT" "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" }}{{ $_ := set $fields . "telemetry" }}{{ end -}}
{{- toJson $fields -}}
{{- end }}

{{/*
Egress to receivers: the public networks, unless there is a proxy, and those that TAILRACE_ALLOW_PRIVATE_NETWORKS allows. The code refuses the same. Some network
plugins do not match the pods of the cluster by their addresses, so these are named by selectors too.
*/}}
{{- define "tailrace.egressToReceivers" -}}
- to:
    {{- $proxy := dict "root" .root "component" .component "name" "TAILRACE_EGRESS_PROXY" }}
    {{- if not (or (include "tailrace.setting" $proxy) (include "tailrace.isReference" $proxy)) }}
    {{- range .root.Files.Get "files/networks.json" | fromJsonArray }}
    - ipBlock:
        {{- toYaml . | nindent 8 }}
    {{- end }}
    {{- end }}
    # `helm test` receives its own event.
    - podSelector:
        matchLabels:
          {{- include "tailrace.selector" (dict "root" .root "component" "doctor") | nindent 10 }}
    {{- with .root.Values.networkPolicy.receivers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with include "tailrace.setting" (dict "root" .root "component" .component "name" "TAILRACE_ALLOW_PRIVATE_NETWORKS") }}
    {{- range splitList "," . }}
    - ipBlock:
        cidr: {{ trim . | quote }}
    {{- end }}
    {{- end }}
  ports:
    # Every port: a URL may have any.
    - { protocol: TCP }
{{- end }}
