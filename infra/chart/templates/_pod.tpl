{{/* The pods of all workloads. */}}

{{/* Options of `pods`: those of the component are merged over those of all. Lists are replaced, not merged. */}}
{{- define "tailrace.podOptions" -}}
{{- $own := (get .root.Values .component).pods | default dict -}}
{{- merge (deepCopy $own) .root.Values.pods | toJson -}}
{{- end }}

{{/*
metadata and spec of a pod. Parameters: root, component, label and user of Kafka (where they are not the component), containers: the text of the containers,
restartPolicy, volumes, spread (whether replicas are spread), grace, podIp (whether the container gets its address as POD_IP).
*/}}
{{- define "tailrace.pod" -}}
{{- $options := include "tailrace.podOptions" . | fromJson -}}
{{- $label := .label | default .component -}}
{{- $secrets := include "tailrace.secretSources" . -}}
metadata:
  labels:
    {{- include "tailrace.selector" (dict "root" .root "component" $label) | nindent 4 }}
    app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
    {{- with $options.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- $references := include "tailrace.references" . }}
  {{- if or $references $options.annotations }}
  annotations:
    {{- with $references }}
    checksum/references: {{ . | quote }}
    {{- end }}
    {{- with $options.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "tailrace.serviceAccountName" . | quote }}
  automountServiceAccountToken: false
  # Variables of services, such as TAILRACE_INGEST_PORT of the service "tailrace-ingest", have the names of settings.
  enableServiceLinks: false
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . | quote }}
    {{- end }}
  {{- end }}
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  {{- with .grace }}
  terminationGracePeriodSeconds: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    {{- with .root.Values.user.id }}
    runAsUser: {{ int64 . }}
    {{- end }}
    {{- with .root.Values.user.group }}
    runAsGroup: {{ int64 . }}
    fsGroup: {{ int64 . }}
    {{- end }}
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with $options.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  {{- with $options.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $options.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $options.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $options.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $options.spec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if .spread }}
  topologySpreadConstraints:
    {{- range $topology := list (list "topology.kubernetes.io/zone" "zones") (list "kubernetes.io/hostname" "nodes") }}
    - topologyKey: {{ first $topology }}
      maxSkew: 1
      whenUnsatisfiable: {{ get $.root.Values.spread (last $topology) }}
      labelSelector:
        matchLabels:
          {{- include "tailrace.selector" (dict "root" $.root "component" $label) | nindent 10 }}
      # Counts the pods of one version, so that a rolling update ends spread.
      matchLabelKeys: [{{ $.spread }}]
    {{- end }}
  {{- end }}
  containers:
    {{- .containers | nindent 4 }}
      image: {{ include "tailrace.image" (dict "root" .root "component" (eq .component "jobs" | ternary "cli" .component)) | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      env:
        {{- include "tailrace.env" . | nindent 8 }}
        {{- if .podIp }}
        - name: POD_IP
          valueFrom: { fieldRef: { fieldPath: status.podIP } }
        {{- end }}
        {{- with $options.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources:
        {{- toYaml (get .root.Values .component).resources | nindent 8 }}
      {{- with $options.container }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if $secrets }}
        - name: secrets
          mountPath: {{ include "tailrace.secretsFolder" .root }}
          readOnly: true
        {{- end }}
        {{- with .volumeMounts }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- with $options.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- if ne .component "jobs" }}
    {{- with $options.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- end }}
  volumes:
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- with $secrets }}
    - name: secrets
      projected:
        defaultMode: 0444
        sources:
          {{- . | nindent 10 }}
    {{- end }}
    {{- with .volumes }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with $options.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* The container of a service: name, ports and probes. All probes ask the metrics port. */}}
{{- define "tailrace.serviceContainer" -}}
- name: {{ .component }}
  ports:
    {{- with include "tailrace.httpPort" . }}
    - name: http
      containerPort: {{ . }}
    {{- end }}
    - name: metrics
      containerPort: {{ include "tailrace.setting" (dict "root" .root "component" .component "name" "TAILRACE_METRICS_PORT") }}
  {{- $probes := (include "tailrace.podOptions" . | fromJson).probes }}
  startupProbe:
    httpGet: { path: /livez, port: metrics }
    {{- merge $probes.startup (dict "periodSeconds" 2 "timeoutSeconds" 2 "failureThreshold" 60) | toYaml | nindent 4 }}
  readinessProbe:
    httpGet: { path: /readyz, port: metrics }
    {{- merge $probes.readiness (dict "periodSeconds" 5 "timeoutSeconds" 2 "failureThreshold" 2) | toYaml | nindent 4 }}
  # Restarting a busy process makes it busier, so it has a minute.
  livenessProbe:
    httpGet: { path: /livez, port: metrics }
    {{- merge $probes.liveness (dict "periodSeconds" 10 "timeoutSeconds" 5 "failureThreshold" 6) | toYaml | nindent 4 }}
{{- end }}

{{/* The port of the HTTP API of ingest or control; nothing for the others. */}}
{{- define "tailrace.httpPort" -}}
{{- if has .component (list "ingest" "control") -}}
{{- include "tailrace.setting" (dict "root" .root "component" .component "name" (printf "TAILRACE_%s_PORT" (upper .component))) -}}
{{- end -}}
{{- end }}
