{{- define "murmuration.edgeNotes" -}}
{{ .Chart.Name }} {{ .Values.image.digest | default (.Values.image.tag | default .Chart.AppVersion) }} is installed as {{ include "murmuration.name" . }} in {{ .Release.Namespace }}.
{{ include "murmuration.apiNote" . }}
{{ include "murmuration.adminNote" . }}
{{- end }}

{{- define "murmuration.apiNote" }}
API      {{ ternary "https" "http" (hasKey .Values.files "TLS_CERTIFICATE_FILE") }}://{{ include "murmuration.name" . }}.{{ .Release.Namespace }}:{{ .Values.service.port }} inside the cluster
{{- if .Values.httpRoute.enabled }}
         https://{{ first .Values.httpRoute.hostnames }} by an HTTPRoute
{{- end }}
{{- if .Values.ingress.enabled }}
         https://{{ first .Values.ingress.hosts }} by an Ingress
{{- end }}
{{- end }}

{{- define "murmuration.adminNote" }}
Probes   http://{{ include "murmuration.name" . }}-admin.{{ .Release.Namespace }}:9090/healthz, /readyz and /metrics
Test     helm test {{ .Release.Name }} -n {{ .Release.Namespace }} --logs
{{- with (.Values.tests).token }}{{ if not .existingSecret }}
         without a token (tests.token.existingSecret) it does not ask the store
{{- end }}{{ end }}
Logs     kubectl logs -n {{ .Release.Namespace }} -l app.kubernetes.io/instance={{ .Release.Name }} --tail 50

A pod that is not ready says in /readyz and in its log what it waits for. A changed Secret is read at a start:
kubectl rollout restart -n {{ .Release.Namespace }} deployment/{{ include "murmuration.name" . }}
{{- if not .Values.networkPolicy.enabled }}
networkPolicy.enabled is false: everybody in the cluster may talk to these pods.
{{- end }}
Uninstalling deletes no data.
{{- end }}
