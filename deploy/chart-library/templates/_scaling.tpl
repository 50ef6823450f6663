{{- define "murmuration.hpaIsOn" -}}
{{- if and (not (get . "process")) (dig "autoscaling" "enabled" false (.Values | merge dict)) }}yes{{ end -}}
{{- end }}

{{- define "murmuration.kedaIsOn" -}}
{{- if and (not (get . "process")) (dig "keda" "enabled" false (.Values | merge dict)) }}yes{{ end -}}
{{- end }}

{{/*
An autoscaler alone says how many. But Helm 3 sets a number that it once gave, and gives no longer, to 1: where the live
Deployment was given one before its autoscaler was turned on, it is given again the one that it has.
*/}}
{{- define "murmuration.replicas" -}}
{{- if not (or (include "murmuration.hpaIsOn" .) (include "murmuration.kedaIsOn" .)) -}}
{{ .Values.replicas }}
{{- else -}}
{{- $live := lookup "apps/v1" "Deployment" .Release.Namespace (include "murmuration.name" .) -}}
{{- if dig "metadata" "annotations" "murmuration/replicas" "" $live -}}
{{ $live.spec.replicas }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "murmuration.hpa" }}
{{- if include "murmuration.hpaIsOn" . }}
{{- $scaling := .Values.autoscaling }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "murmuration.name" . }}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ $scaling.targetCPUUtilizationPercentage }}}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: {{ $scaling.scaleDownStabilizationSeconds }}
{{- end }}
{{- end }}

{{/* KEDA, by the lag of a worker's group; the topics and the group are the worker's own, the rest are values. */}}
{{- define "murmuration.scaledobject" }}
{{- if include "murmuration.kedaIsOn" . }}
{{- $keda := .Values.keda }}
{{- $settings := .Values.settings }}
{{- $topicPrefix := get $settings "KAFKA_TOPIC_PREFIX" | default "" }}
{{- $groupPrefix := hasKey $settings "KAFKA_GROUP_PREFIX" | ternary (get $settings "KAFKA_GROUP_PREFIX") $topicPrefix }}
{{- $protocol := get $settings "KAFKA_SECURITY_PROTOCOL" | default "PLAINTEXT" }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ include "murmuration.name" . }}
  labels: {{- include "murmuration.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    name: {{ include "murmuration.name" . }}
  minReplicaCount: {{ $keda.minReplicas }}
  maxReplicaCount: {{ $keda.maxReplicas }}
  pollingInterval: {{ $keda.pollingIntervalSeconds }}
  cooldownPeriod: {{ $keda.cooldownSeconds }}
  triggers:
    {{- range $keda.topics }}
    - type: kafka
      metadata:
        bootstrapServers: {{ required "keda needs settings.KAFKA_BOOTSTRAP_SERVERS" (get $settings "KAFKA_BOOTSTRAP_SERVERS") | quote }}
        consumerGroup: {{ $groupPrefix }}{{ $.Chart.Name }}
        topic: {{ $topicPrefix }}{{ . }}
        lagThreshold: {{ $keda.lagThreshold | quote }}
        {{- if hasSuffix "SSL" $protocol }}
        tls: enable
        {{- end }}
        {{- if eq (get $settings "KAFKA_OAUTH_PROVIDER") "msk-iam" }}
        sasl: oauthbearer
        saslTokenProvider: aws_msk_iam
        awsRegion: {{ required "keda needs settings.KAFKA_OAUTH_AWS_REGION" (get $settings "KAFKA_OAUTH_AWS_REGION") }}
        {{- end }}
      {{- with $keda.authenticationRef }}
      authenticationRef:
        name: {{ . }}
      {{- end }}
    {{- end }}
{{- end }}
{{- end }}
