{{/* Through the gateway to each edge: a path of each, without a token, is answered with the edge's own 401. */}}
{{- define "murmuration.gatewayTest" }}
{{- $paths := list "/v1/users/nobody" "/v1/tweets/1" "/v1/timeline" "/v1/no-such-path" }}
{{- include "murmuration.test" (dict "context" . "script" (include "murmuration.gatewayTestScript" .) "settings" (dict
  "PATHS" (join " " $paths) "SCHEME" (ternary "https" "http" (hasKey .Values.files "TLS_CERTIFICATE_FILE")))) }}
{{- end }}

{{- define "murmuration.gatewayTestScript" -}}
import json, os, ssl, urllib.error, urllib.request

# The certificate has the name that clients use, not the Service's: here it is not compared.
context = ssl._create_unverified_context()

def ask(url):
    try:
        answer = urllib.request.urlopen(url, timeout=10, context=context)
    except urllib.error.HTTPError as error:
        answer = error
    body = answer.read()
    print(answer.status, url, body[:300].decode(errors="replace"), flush=True)
    return answer.status, answer.headers.get_content_type(), answer.headers.get("X-Request-ID")

if ask(os.environ["ADMIN"] + "/readyz")[0] != 200:
    raise SystemExit("The test failed: the gateway is not ready.")
service = os.environ["SERVICE"].replace("http:", os.environ["SCHEME"] + ":", 1)
for path in os.environ["PATHS"].split():
    status, kind, request_id = ask(service + path)
    expected = 404 if "no-such" in path else 401
    if (status, kind) != (expected, "application/problem+json") or not request_id:
        raise SystemExit(f"The test failed: {path} is not answered by a problem document with status {expected} and a request id.")
{{- end }}
