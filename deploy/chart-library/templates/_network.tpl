{{/* The API's Service. It may be made a load balancer's; the admin port has one of its own, which may not. */}}
{{- define "murmuration.service" }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
  {{- with .Values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .Values.service.type }}
  {{- with .Values.service.loadBalancerClass }}
  loadBalancerClass: {{ . }}
  {{- end }}
  selector: {{- include "murmuration.selector" . | nindent 4 }}
  ports:
    - {name: {{ include "murmuration.api" . }}, port: {{ .Values.service.port }}, targetPort: {{ include "murmuration.api" . }}}
{{- end }}

{{/* Metrics and build_info, of a pod that is not ready too: that is when somebody wants to know. */}}
{{- define "murmuration.adminService" }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "murmuration.name" . }}-admin
  labels:
    {{- include "murmuration.labels" . | nindent 4 }}
    murmuration/port: admin
spec:
  type: ClusterIP
  publishNotReadyAddresses: true
  selector: {{- include "murmuration.selector" . | nindent 4 }}
  ports:
    - {name: admin, port: 9090, targetPort: admin}
{{- end }}

{{- define "murmuration.servicemonitor" }}
{{- if (.Values.serviceMonitor).enabled }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "murmuration.name" . }}
  labels:
    {{- include "murmuration.labels" . | nindent 4 }}
    {{- with .Values.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "murmuration.selector" . | nindent 6 }}
      murmuration/port: admin
  endpoints:
    # honorLabels: build_info{service} is the process's own word; the operator would put the Service's name in its place.
    - {port: admin, path: /metrics, interval: {{ .Values.serviceMonitor.interval }}, honorLabels: true}
{{- end }}
{{- end }}

{{/* Who may come in: to the API whom the values name and the chart's tests; to the admin port also the guards of the
namespace's charts, which read build_info. Where to: what the values name. */}}
{{- define "murmuration.networkpolicy" }}
{{- if .Values.networkPolicy.enabled }}
{{- $process := get . "process" | default dict }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "murmuration.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- if $process.job }}
  ingress: []
  {{- else }}
  ingress:
    {{- if include "murmuration.api" . }}
    - from:
        {{- include "murmuration.testPeer" . | nindent 8 }}
        {{- with .Values.networkPolicy.ingress.http }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports: [{port: {{ include "murmuration.api" . }}, protocol: TCP}]
    {{- end }}
    - from:
        {{- include "murmuration.testPeer" . | nindent 8 }}
        - podSelector:
            matchLabels:
              app.kubernetes.io/part-of: murmuration
              app.kubernetes.io/component: guard
        {{- with .Values.networkPolicy.ingress.admin }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports: [{port: admin, protocol: TCP}]
  {{- end }}
  egress: {{- include "murmuration.egress" . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "murmuration.egress" -}}
{{- range $name, $rule := .Values.networkPolicy.egress }}
# {{ $name }}
- to: {{- toYaml $rule.to | nindent 4 }}
  ports:
    {{- range $rule.ports }}
    - {port: {{ . }}, protocol: TCP}
    {{- if eq $name "dns" }}
    - {port: {{ . }}, protocol: UDP}
    {{- end }}
    {{- end }}
{{- end }}
{{- end }}

{{- define "murmuration.testPeer" -}}
- podSelector:
    matchLabels:
      app.kubernetes.io/name: {{ .Chart.Name }}
      app.kubernetes.io/instance: {{ .Release.Name }}
      app.kubernetes.io/component: test
{{- end }}

{{- define "murmuration.httproute" }}
{{- if .Values.httpRoute.enabled }}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
  {{- with .Values.httpRoute.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  parentRefs: {{- toYaml .Values.httpRoute.parentRefs | nindent 4 }}
  hostnames: {{- toYaml .Values.httpRoute.hostnames | nindent 4 }}
  rules:
    - backendRefs:
        - {name: {{ include "murmuration.name" . }}, port: {{ .Values.service.port }}}
      {{- with .Values.httpRoute.matches }}
      matches: {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
{{- end }}

{{- define "murmuration.ingress" }}
{{- if .Values.ingress.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
  {{- with .Values.ingress.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .Values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  tls: {{- toYaml .Values.ingress.tls | nindent 4 }}
  rules:
    {{- range .Values.ingress.hosts }}
    - host: {{ . }}
      http:
        paths:
          - path: {{ $.Values.ingress.path }}
            pathType: Prefix
            backend:
              service:
                name: {{ include "murmuration.name" $ }}
                port: {name: http}
    {{- end }}
{{- end }}
{{- end }}
