{{/* A worker or a bridge, by its admin port: dict "context" . "metrics" names of metrics that a process at work has. */}}
{{- define "murmuration.workerTest" }}
{{- include "murmuration.test" (dict "context" .context "settings" (dict "METRICS" (join " " .metrics)) "script" (include "murmuration.workerTestScript" .)) }}
{{- end }}

{{- define "murmuration.workerTestScript" -}}
import os, urllib.error, urllib.request

def ask(path):
    try:
        answer = urllib.request.urlopen(os.environ["ADMIN"] + path, timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.read().decode()

status, body = ask("/readyz")
print(status, body, flush=True)
if status != 200:
    raise SystemExit("The test failed: a process is not ready; the line above says what it waits for.")
status, body = ask("/metrics")
lines = [line for line in body.splitlines() if not line.startswith("#")]
for metric in os.environ["METRICS"].split():
    found = [line for line in lines if line.startswith(metric)]
    print(*found, sep="\n", flush=True)
    if not found:
        raise SystemExit(f"The test failed: /metrics has no {metric}; is ADMIN the address of this service?")
{{- end }}

{{- define "murmuration.workerNotes" -}}
{{ .Chart.Name }} {{ .Values.image.digest | default (.Values.image.tag | default .Chart.AppVersion) }} is installed as {{ include "murmuration.name" . }} in {{ .Release.Namespace }}.
{{ include "murmuration.adminNote" . }}
{{- end }}
