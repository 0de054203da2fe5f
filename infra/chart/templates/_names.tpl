{{/* Names and labels of objects. */}}

{{/*
The name that all names begin with. Names of a StatefulSet's and a CronJob's pods may have 63 characters, so a longer name of the release
is cut, and gets a hash so that it stays different from others.
*/}}
{{- define "tailrace.fullname" -}}
{{- $name := default .Release.Name .Values.fullnameOverride -}}
{{- if gt (len $name) 36 -}}
{{- printf "%s-%s" (trunc 27 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end }}

{{/* The labels that select the pods of one workload: (dict "root" $ "component" "ingest"). They can never change. */}}
{{- define "tailrace.selector" -}}
app.kubernetes.io/name: tailrace
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "tailrace.labels" -}}
{{ include "tailrace.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tailrace
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{/* The metadata of an object: (dict "root" $ "component" "ingest" "name" "ingest" "annotations" (dict)). */}}
{{- define "tailrace.metadata" -}}
name: {{ include "tailrace.fullname" .root }}-{{ .name | default .component }}
namespace: {{ .namespace | default .root.Release.Namespace | quote }}
labels:
  {{- include "tailrace.labels" . | nindent 2 }}
  {{- with merge (dict) (.labels | default dict) .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Strimzi knows v1 since 0.49, and nothing else since 1.0. */}}
{{- define "tailrace.strimziVersion" -}}
{{- $known := .Capabilities.APIVersions -}}
kafka.strimzi.io/{{ and ($known.Has "kafka.strimzi.io/v1beta2") (not ($known.Has "kafka.strimzi.io/v1")) | ternary "v1beta2" "v1" }}
{{- end }}

{{/* The image of a service or of `cli`. A digest wins over the tag, which stays for readers. */}}
{{- define "tailrace.image" -}}
{{- $image := .root.Values.image -}}
{{- with (.root.Values.global).imageRegistry | default $image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{- $image.repository }}-{{ .component }}:{{ $image.tag | default .root.Chart.AppVersion -}}
{{- with get $image.digests .component }}@{{ . }}{{ end -}}
{{- end }}

{{- define "tailrace.serviceAccountName" -}}
{{- $own := (get .root.Values .component).serviceAccount.name -}}
{{- if $own }}{{ $own }}{{ else if .root.Values.serviceAccounts.create }}{{ include "tailrace.fullname" .root }}-{{ .component }}{{ else }}default{{ end -}}
{{- end }}
