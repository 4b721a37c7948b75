{{- define "taskshield.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "taskshield.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "taskshield.labels" -}}
{{ include "taskshield.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "taskshield.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "taskshield.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- define "taskshield.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end }}

{{- /* What both containers of a pod have in common. */ -}}
{{- define "taskshield.container" -}}
image: {{ include "taskshield.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: TASKSHIELD_CONFIG
    value: /etc/taskshield/shield.yaml
  - name: TASKSHIELD_SERVER__HOST
    value: 0.0.0.0
  - name: TASKSHIELD_SERVER__PORT
    value: "8787"
  - name: TASKSHIELD_SERVER__STORE
    valueFrom:
      secretKeyRef:
        name: {{ .Values.postgres.existingSecret }}
        key: {{ .Values.postgres.key }}
  {{- if .Values.llm.existingSecret }}
  - name: TASKSHIELD_API_KEY
    valueFrom:
      secretKeyRef:
        name: {{ .Values.llm.existingSecret }}
        key: {{ .Values.llm.key }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: settings
    mountPath: /etc/taskshield
    readOnly: true
  - name: temporary
    mountPath: /tmp
{{- end }}
