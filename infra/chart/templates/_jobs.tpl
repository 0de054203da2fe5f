{{/*
The spec of a Job that runs the command line: (dict "root" $ "name" "topics" "args" (list ...) "omit" (list ...) "volumes" "" "volumeMounts" "").
A Job cannot be changed, so its name contains a hash of this spec, and a changed spec is another Job.
*/}}
{{- define "tailrace.jobSpec" -}}
{{- $jobs := .root.Values.jobs -}}
backoffLimit: {{ int64 $jobs.backoffLimit }}
{{- with include "tailrace.jobLifetime" .root }}
{{ . }}
{{- end }}
template:
  {{- $containers := printf "- name: %s\n  args: %s" .name (toJson .args) }}
  {{- include "tailrace.pod" (merge (dict "component" "jobs" "label" .name "containers" $containers "restartPolicy" "OnFailure") .) | nindent 2 }}
{{- end }}

{{- define "tailrace.job" -}}
{{- $spec := include "tailrace.jobSpec" . -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- $name := printf "%s-%s" .name (printf "%s%s" $spec .content | sha256sum | trunc 10) }}
  {{- include "tailrace.metadata" (dict "root" .root "component" .name "name" $name) | nindent 2 }}
spec:
  {{- $spec | nindent 2 }}
{{- end }}

{{/* Settings that a Job which works on topics only does not need. */}}
{{- define "tailrace.apiSettings" -}}TAILRACE_URL,TAILRACE_API_TOKEN,TAILRACE_DOCTOR_TARGETS,TAILRACE_EXPORT_PASSPHRASE{{- end }}
{{- define "tailrace.secretKeySettings" -}}TAILRACE_SECRET_KEY,TAILRACE_SECRET_KEY_PREVIOUS{{- end }}

{{/* How long a finished Job stays; nothing where it stays for good. */}}
{{- define "tailrace.jobLifetime" -}}
{{- with .Values.jobs -}}
{{- if not (kindIs "invalid" .ttlSecondsAfterFinished) -}}
ttlSecondsAfterFinished: {{ int64 .ttlSecondsAfterFinished }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The pod of `doctor` with these options: (dict "root" $ "options" (list ...)). */}}
{{- define "tailrace.doctorPod" -}}
{{- $ingest := printf "http://%s-ingest:%v" (include "tailrace.fullname" .root) .root.Values.ingest.service.port -}}
{{- $args := concat (list "doctor") .options (list "--ingest" $ingest) -}}
{{- $containers := printf "- name: doctor\n  args: %s" (toJson $args) -}}
{{- include "tailrace.pod" (merge (dict "component" "jobs" "user" "doctor" "label" "doctor" "containers" $containers "restartPolicy" "Never") .) -}}
{{- end }}
