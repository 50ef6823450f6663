{{/* Plain settings are a ConfigMap; secrets and certificates are files of one read-only volume, /etc/murmuration. */}}

{{- define "murmuration.reads" -}}
{{- $reads := dig "reads" list (.process | default dict) -}}
{{- if or (not $reads) (has .name $reads) }}yes{{ end -}}
{{- end }}

{{/* The ConfigMap's data. A number of YAML is a float here: JSON writes it in full. */}}
{{- define "murmuration.settings" -}}
{{- range $name, $value := .Values.settings }}
{{- if include "murmuration.reads" (dict "process" (get $ "process") "name" $name) }}
{{ $name }}: {{ ternary (toJson $value) (toString $value) (kindIs "float64" $value) | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "murmuration.config" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
data: {{- include "murmuration.settings" . | default "{}" | nindent 2 }}
{{- end }}

{{/* What a container finds in its environment besides its ConfigMap. */}}
{{- define "murmuration.environment" -}}
{{- $process := get . "process" | default dict -}}
{{- if not $process.job }}
- name: ADMIN_PORT
  value: "9090"
{{- if include "murmuration.api" . }}
- name: PORT
  value: "8080"
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secrets }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "settings.%s and secrets.%s are both set: keep one of them" $name $name) }}
{{- end }}
{{- if include "murmuration.reads" (dict "process" $process "name" $name) }}
- name: {{ $name }}_FILE
  value: /etc/murmuration/secrets/{{ $name }}
{{- end }}
{{- end }}
{{- range $name, $from := .Values.files }}
{{- if include "murmuration.reads" (dict "process" $process "name" $name) }}
- name: {{ $name }}
  value: /etc/murmuration/files/{{ $name }}
{{- end }}
{{- end }}
{{- end }}

{{/* The sources of /etc/murmuration: who changes a Secret finds the new text in the files within a minute or so. */}}
{{- define "murmuration.fileSources" -}}
{{- $process := get . "process" | default dict -}}
{{- range $folder, $entries := dict "secrets" .Values.secrets "files" .Values.files }}
{{- range $name, $from := $entries }}
{{- if include "murmuration.reads" (dict "process" $process "name" $name) }}
- {{ if $from.existingSecret }}secret{{ else }}configMap{{ end }}:
    name: {{ $from.existingSecret | default $from.existingConfigMap }}
    items:
      - key: {{ $from.key }}
        path: {{ $folder }}/{{ $name }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The name of the API's port: http of a chart's own process, what `process.api` says of another; nothing without an API. */}}
{{- define "murmuration.api" -}}
{{- if get . "process" }}{{ dig "api" "" .process }}{{ else if hasKey .Values "service" }}http{{ end -}}
{{- end }}
