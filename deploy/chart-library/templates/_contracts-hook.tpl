{{/*
Before an upgrade the new image compares its contracts with those of the services that run, and fails the release if
anything is in the way: docs/operations.md, "Before a release". Helm prints its lines. It reads build_info at admin ports,
so it needs no settings, no secrets and no token; nor the service's account, which the upgrade itself may have yet to make.
This service may be down, and others not installed: either is said, and no fault.
*/}}
{{- define "murmuration.contractsHook" }}
{{- if and (.Values.contracts).enabled (not (get . "process")) }}
{{- $context := merge (dict "process" (dict "component" "guard" "job" true "account" "default")) . }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "murmuration.name" $context }}
  labels: {{- include "murmuration.labels" $context | nindent 4 }}
  annotations:
    helm.sh/hook: pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-output-log-policy: hook-failed
spec:
  backoffLimit: 0
  activeDeadlineSeconds: 180
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels:
        {{- include "murmuration.selector" $context | nindent 8 }}
        {{- include "murmuration.sameLabels" $context | nindent 8 }}
    spec:
      {{- include "murmuration.podBasics" $context | nindent 6 }}
      restartPolicy: Never
      containers:
        - name: guard
          image: {{ include "murmuration.image" . }}
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          command: [python, -m, contracts, compare]
          args:
            - --service={{ .Chart.Name }}
            - --wait=60
            {{- $own := printf "^https?://%s-admin([.:]|$)" (include "murmuration.release" .) }}
            {{- range .Values.contracts.deployed }}
            {{- if regexMatch $own . }}
            - --own={{ . }}
            {{- end }}
            {{- end }}
            {{- if .Values.contracts.allowUnknown }}
            - --allow-unknown
            {{- end }}
            - --deployed
            {{- range .Values.contracts.deployed }}
            - {{ . }}
            {{- end }}
          resources:
            requests: {cpu: 50m, memory: 64Mi, ephemeral-storage: 16Mi}
            limits: {memory: 256Mi, ephemeral-storage: 64Mi}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          terminationMessagePolicy: FallbackToLogsOnError
{{- if .Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "murmuration.name" $context }}
  labels: {{- include "murmuration.labels" $context | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{- include "murmuration.selector" $context | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress: []
  egress:
    - to: {{- toYaml .Values.networkPolicy.egress.dns.to | nindent 8 }}
      ports:
        {{- range .Values.networkPolicy.egress.dns.ports }}
        - {port: {{ . }}, protocol: UDP}
        - {port: {{ . }}, protocol: TCP}
        {{- end }}
    - to: [{podSelector: {matchLabels: {app.kubernetes.io/part-of: murmuration}}}]
      ports: [{port: admin, protocol: TCP}]
{{- end }}
{{- end }}
{{- end }}
