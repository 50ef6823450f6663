{{/*
A job's spec, for a Job or a CronJob: dict "context" (a process with job: true) "deadline" seconds "retries" number;
"final" exit codes that another try would only repeat; "suffix" behind a Job's name, "suspend" a CronJob.
The caller writes kind, metadata and the schedule, since these are what differs.
*/}}
{{- define "murmuration.jobSpec" -}}
backoffLimit: {{ .retries | default 3 }}
activeDeadlineSeconds: {{ .deadline }}
podFailurePolicy:  # a node that is drained counts for no failure
  rules:
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
    {{- with .final }}
    - {action: FailJob, onExitCodes: {operator: In, values: {{ toJson . }}}}
    {{- end }}
ttlSecondsAfterFinished: 86400
template:
  {{- include "murmuration.pod" .context | nindent 2 }}
{{- end }}

{{- define "murmuration.job" }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "murmuration.name" .context }}{{ with .suffix }}-{{ . }}{{ end }}
  labels: {{- include "murmuration.labels" .context | nindent 4 }}
  {{- with .annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "murmuration.jobSpec" . | nindent 2 }}
{{- end }}

{{/* dict "context" … "deadline" … "retries" … "schedule" cron's five fields, UTC. */}}
{{- define "murmuration.cronjob" }}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ include "murmuration.name" .context }}
  labels: {{- include "murmuration.labels" .context | nindent 4 }}
spec:
  schedule: {{ .schedule | quote }}
  timeZone: Etc/UTC
  suspend: {{ .suspend | default false }}
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 300
  successfulJobsHistoryLimit: 1
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      {{- include "murmuration.jobSpec" . | nindent 6 }}
{{- end }}
