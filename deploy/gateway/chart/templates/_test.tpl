{{/* Through the gateway to each edge: a path of each, without a token, is answered with the edge's own 401. A gateway whose
certificate a proxy has sends plain HTTP to HTTPS; there the redirect is all that can be seen from here. */}}
{{- define "murmuration.gatewayTest" }}
{{- $paths := list "/v1/users/nobody" "/v1/tweets/1" "/v1/timeline" "/v1/no-such-path" }}
{{- include "murmuration.test" (dict "context" . "script" (include "murmuration.gatewayTestScript" .) "settings" (dict
  "PATHS" (join " " $paths) "HOST" (.Values.settings.HOSTS | default "" | splitList " " | first)
  "REDIRECTS" (and (eq (toString .Values.settings.HTTPS_ONLY) "true") (not (hasKey .Values.files "TLS_CERTIFICATE_FILE")) | ternary "yes" "")
  "SCHEME" (ternary "https" "http" (hasKey .Values.files "TLS_CERTIFICATE_FILE")))) }}
{{- end }}

{{- define "murmuration.gatewayTestScript" -}}
import json, os, ssl, urllib.error, urllib.request

# The certificate has the name that clients use, not the Service's: here it is not compared.
context = ssl._create_unverified_context()

class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None

opener = urllib.request.build_opener(Stay, urllib.request.HTTPSHandler(context=context))

def ask(url):
    request = urllib.request.Request(url, headers={"Host": os.environ["HOST"]} if os.environ["HOST"] else {})
    try:
        answer = opener.open(request, timeout=10)
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
    if os.environ["REDIRECTS"]:
        if status != 308:
            raise SystemExit(f"The test failed: {path} is not sent to HTTPS.")
        continue
    expected = 404 if "no-such" in path else 401
    if (status, kind) != (expected, "application/problem+json") or not request_id:
        raise SystemExit(f"The test failed: {path} is not answered by a problem document with status {expected} and a request id.")
{{- end }}
