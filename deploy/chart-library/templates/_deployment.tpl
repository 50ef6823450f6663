{{- define "murmuration.deployment" }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
  {{- $replicas := include "murmuration.replicas" . }}
  {{- with $replicas }}
  annotations: {murmuration/replicas: given}
  {{- end }}
spec:
  {{- with $replicas }}
  replicas: {{ . }}
  {{- end }}
  revisionHistoryLimit: 5
  progressDeadlineSeconds: {{ .Values.rollout.progressDeadlineSeconds }}
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: {{ .Values.rollout.maxSurge }}}
  selector:
    matchLabels: {{- include "murmuration.selector" . | nindent 6 }}
  template:
    {{- include "murmuration.pod" . | nindent 4 }}
      {{- if .Values.topologySpread.enabled }}
      topologySpreadConstraints:
        {{- range $over, $unsatisfiable := dict "topology.kubernetes.io/zone" .Values.topologySpread.whenUnsatisfiable "kubernetes.io/hostname" "ScheduleAnyway" }}
        - maxSkew: 1
          topologyKey: {{ $over }}
          whenUnsatisfiable: {{ $unsatisfiable }}
          nodeTaintsPolicy: Honor  # else a cordoned node counts as one without pods
          labelSelector:
            matchLabels: {{- include "murmuration.selector" $ | nindent 14 }}
          matchLabelKeys: [pod-template-hash]
        {{- end }}
      {{- end }}
{{- end }}

{{- define "murmuration.pdb" }}
{{- if .Values.pdb.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .Values.pdb.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "murmuration.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/* Everything of one process that keeps running, but what scales it and who reaches it from outside. */}}
{{- define "murmuration.process" }}
{{- include "murmuration.config" . }}
{{- include "murmuration.deployment" . }}
{{- include "murmuration.adminService" . }}
{{- include "murmuration.pdb" . }}
{{- include "murmuration.networkpolicy" . }}
{{- include "murmuration.servicemonitor" . }}
{{- include "murmuration.contractsHook" . }}
{{- end }}

{{/* Everything of a chart whose first process serves HTTP. */}}
{{- define "murmuration.edge" }}
{{- include "murmuration.serviceaccount" . }}
{{- include "murmuration.process" . }}
{{- include "murmuration.service" . }}
{{- include "murmuration.hpa" . }}
{{- include "murmuration.httproute" . }}
{{- include "murmuration.ingress" . }}
{{- include "murmuration.testNetworkpolicy" . }}
{{- end }}

{{/* Everything of a chart whose first process reads topics or streams. */}}
{{- define "murmuration.worker" }}
{{- include "murmuration.serviceaccount" . }}
{{- include "murmuration.process" . }}
{{- include "murmuration.scaledobject" . }}
{{- include "murmuration.testNetworkpolicy" . }}
{{- end }}
