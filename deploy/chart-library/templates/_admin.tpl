{{/*
A job of the admin image, with its ConfigMap and NetworkPolicy: dict "context" . "component" … "command" a list.
Its name ends with the release's revision: a job cannot be changed, and each upgrade is to run it anew. A rollback has the older
revision's number, `helm template` always 1: values.yaml says what to do.
*/}}
{{- define "murmuration.admin" }}
{{- $context := merge (dict "process" (dict "component" .component "command" .command "job" true)) .context }}
{{- include "murmuration.config" $context }}
{{- include "murmuration.networkpolicy" $context }}
{{- include "murmuration.job" (dict "context" $context "suffix" .context.Release.Revision "deadline" .context.Values.deadlineSeconds "retries" .context.Values.retries) }}
{{- end }}

{{/* `helm test` of such a chart runs a command of the job's image with its settings: dict "context" . "command" a list. */}}
{{- define "murmuration.adminTest" }}
{{- $context := merge (dict "process" (dict "component" "test" "command" .command "job" true)) .context }}
{{- $pod := include "murmuration.pod" $context | fromYaml }}
{{- include "murmuration.config" $context }}
{{- include "murmuration.networkpolicy" $context }}
---
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "murmuration.name" $context }}
  labels: {{- include "murmuration.labels" $context | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  activeDeadlineSeconds: 300
  {{- toYaml $pod.spec | nindent 2 }}
{{- end }}
