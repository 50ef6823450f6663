{{/*
The pod of `helm test`: dict "context" . "script" Python "settings" (dict NAME text).
It speaks to the release through its Services, as a client would; its own NetworkPolicy lets it go nowhere else.
*/}}
{{- define "murmuration.test" }}
{{- $context := .context }}
{{- $token := dig "tests" "token" "existingSecret" "" ($context.Values | merge dict) }}
---
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "murmuration.name" $context }}-test
  labels: {{- include "murmuration.testLabels" $context | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  {{- include "murmuration.podBasics" $context | nindent 2 }}
  restartPolicy: Never
  activeDeadlineSeconds: 120
  containers:
    - name: test
      image: {{ include "murmuration.image" $context }}
      imagePullPolicy: {{ $context.Values.image.pullPolicy }}
      command: [python, -c]
      args:
        - | {{- .script | nindent 10 }}
      env:
        - {name: SERVICE, value: "http://{{ include "murmuration.name" $context }}{{ with $context.Values.service }}:{{ .port }}{{ end }}"}
        - {name: ADMIN, value: "http://{{ include "murmuration.name" $context }}-admin:9090"}
        {{- if $token }}
        - {name: TOKEN_FILE, value: /etc/murmuration/token}
        {{- end }}
        {{- range $name, $value := .settings }}
        - {name: {{ $name }}, value: {{ $value | quote }}}
        {{- end }}
      resources:
        requests: {cpu: 50m, memory: 32Mi, ephemeral-storage: 16Mi}
        limits: {memory: 128Mi, ephemeral-storage: 64Mi}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      {{- if $token }}
      volumeMounts:
        - {name: token, mountPath: /etc/murmuration, readOnly: true}
      {{- end }}
  {{- if $token }}
  volumes:
    - name: token
      projected:
        defaultMode: 288
        sources:
          - secret:
              name: {{ $token }}
              items: [{key: {{ $context.Values.tests.token.key }}, path: token}]
  {{- end }}
{{- end }}

{{- define "murmuration.testLabels" -}}
{{ include "murmuration.labels" . | replace (printf "component: %s" (include "murmuration.component" .)) "component: test" }}
{{- end }}

{{/* The test asks for a name and speaks to its own release, and to nobody else. */}}
{{- define "murmuration.testNetworkpolicy" }}
{{- if .Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "murmuration.name" . }}-test
  labels: {{- include "murmuration.testLabels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: {{ .Chart.Name }}
      app.kubernetes.io/instance: {{ .Release.Name }}
      app.kubernetes.io/component: test
  policyTypes: [Ingress, Egress]
  ingress: []
  egress:
    - to: {{- toYaml .Values.networkPolicy.egress.dns.to | nindent 8 }}
      ports:
        {{- range .Values.networkPolicy.egress.dns.ports }}
        - {port: {{ . }}, protocol: UDP}
        - {port: {{ . }}, protocol: TCP}
        {{- end }}
    - to:
        - podSelector:
            matchLabels: {{- include "murmuration.selector" . | nindent 14 }}
      ports:
        {{- with include "murmuration.api" . }}
        - {port: {{ . }}, protocol: TCP}
        {{- end }}
        - {port: admin, protocol: TCP}
{{- end }}
{{- end }}

{{/* An edge, as a client sees it: dict "context" . "path" a path that needs a token. */}}
{{- define "murmuration.edgeTest" }}
{{- include "murmuration.test" (dict "context" .context "settings" (dict "ASKED" .path) "script" (include "murmuration.edgeTestScript" .)) }}
{{- end }}

{{- define "murmuration.edgeTestScript" -}}
import json, os, pathlib, urllib.error, urllib.request

def ask(url, token=None):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        answer = urllib.request.urlopen(request, timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    body = answer.read()
    print(answer.status, url, body[:300].decode(errors="replace"), flush=True)
    return answer.status, answer.headers.get_content_type(), json.loads(body)

def expect(told, truth):
    if not truth:
        raise SystemExit(f"The test failed: {told}.")

service, asked = os.environ["SERVICE"], os.environ["ASKED"]
status, _, _ = ask(os.environ["ADMIN"] + "/readyz")
expect("a process is not ready; its answer says what it waits for", status == 200)
status, _, body = ask(service + "/openapi.json")
expect("/openapi.json is not served", status == 200 and "openapi" in body)
status, kind, body = ask(service + asked)
expect("a call without a token is not refused by a problem document with status 401",
       (status, kind, body.get("status")) == (401, "application/problem+json", 401))
if "TOKEN_FILE" in os.environ:
    token = pathlib.Path(os.environ["TOKEN_FILE"]).read_text().strip()
    status, _, _ = ask(service + asked, token)
    expect("a call with the token of values.tests.token is not answered with 200: see the line above", status == 200)
    print("A call with a token was answered, from the store.")
else:
    print("No token was given (values.tests.token): the store was not asked.")
{{- end }}
