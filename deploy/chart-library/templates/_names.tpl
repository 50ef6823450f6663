{{/*
Every template of this library takes the chart's own context, or one like it for another process of the same chart:
  dict "Chart" .Chart "Release" .Release "Capabilities" .Capabilities
       "Values" (mergeOverwrite (deepCopy .Values) .Values.eraser)
       "process" (dict "component" "eraser" "command" (list "python" "-m" "…") "reads" (list "TABLE_PREFIX" …))
process: component, its label and the suffix of its names; command, instead of the image's own; reads, the settings and
files that it gets, all of them if left out; api, the name of its API's port if it has one; job: true for what ends by itself and has no probes; annotations, of its pods; account, instead of the release's own;
claim, the name and path of a PersistentVolumeClaim.
*/}}

{{- define "murmuration.component" -}}
{{- dig "component" "service" (get . "process" | default dict) -}}
{{- end }}

{{/* The name of the release if it says which chart it is, else both; with the component's behind it. */}}
{{- define "murmuration.release" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "murmuration.name" -}}
{{- $component := include "murmuration.component" . -}}
{{- include "murmuration.release" . }}{{ if ne $component "service" }}-{{ $component }}{{ end -}}
{{- end }}

{{- define "murmuration.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ include "murmuration.component" . }}
{{- end }}

{{- define "murmuration.labels" -}}
{{ include "murmuration.selector" . }}
{{ include "murmuration.sameLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "murmuration.sameLabels" -}}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/part-of: murmuration
{{- end }}

{{/* A digest decides; else the tag, which is the chart's appVersion unless it is given. */}}
{{- define "murmuration.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "murmuration.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (ternary (include "murmuration.release" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "murmuration.serviceaccount" }}
{{- if .Values.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "murmuration.serviceAccountName" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
  {{- with .Values.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
{{- end }}
