{{/* The template of a pod, metadata and spec: the same for what keeps running, jobs and tests. */}}

{{- define "murmuration.pod" -}}
{{- $process := get . "process" | default dict -}}
{{- $files := include "murmuration.fileSources" . -}}
metadata:
  labels:
    {{- include "murmuration.selector" . | nindent 4 }}
    {{- include "murmuration.sameLabels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/settings: {{ include "murmuration.settings" . | sha256sum }}
    {{- with $process.annotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "murmuration.podBasics" . | nindent 2 }}
  {{- if $process.job }}
  restartPolicy: Never
  {{- else }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- end }}
  containers:
    - name: {{ .Chart.Name }}
      {{- include "murmuration.container" . | nindent 6 }}
      {{- with $process.command }}
      command: {{- toYaml . | nindent 8 }}
      {{- end }}
      envFrom:
        - configMapRef:
            name: {{ include "murmuration.name" . }}
      {{- with include "murmuration.environment" . }}
      env: {{- . | nindent 8 }}
      {{- end }}
      {{- if not $process.job }}
      ports:
        {{- with include "murmuration.api" . }}
        - {name: {{ . }}, containerPort: 8080}
        {{- end }}
        - {name: admin, containerPort: 9090}
      startupProbe: {{- include "murmuration.probe" (list "/healthz" .Values.probes.startup) | nindent 8 }}
      livenessProbe: {{- include "murmuration.probe" (list "/healthz" .Values.probes.liveness) | nindent 8 }}
      readinessProbe: {{- include "murmuration.probe" (list "/readyz" .Values.probes.readiness) | nindent 8 }}
      {{- if .Values.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ .Values.preStopSeconds }}
      {{- end }}
      {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if $files }}
        - {name: files, mountPath: /etc/murmuration, readOnly: true}
        {{- end }}
        {{- with $process.claim }}
        - {name: claim, mountPath: {{ .path }}}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {{- toYaml .Values.tmp | nindent 8 }}
    {{- with $process.claim }}
    - name: claim
      persistentVolumeClaim: {claimName: {{ .name }}}
    {{- end }}
    {{- if $files }}
    - name: files
      projected:
        defaultMode: 288  # 0440: the group is fsGroup
        sources: {{- $files | nindent 10 }}
    {{- end }}
{{- end }}

{{/* What every pod has, tests too: an account, no token, an unprivileged user, a place. */}}
{{- define "murmuration.podBasics" -}}
serviceAccountName: {{ dig "account" (include "murmuration.serviceAccountName" .) (get . "process" | default dict) }}
automountServiceAccountToken: false
enableServiceLinks: false  # else FOLLOW_SERVICE_PORT=tcp://… and the like stand in the environment
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "murmuration.container" -}}
image: {{ include "murmuration.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "murmuration.probe" -}}
httpGet: {path: {{ first . }}, port: admin}
{{ toYaml (last .) }}
{{- end }}
