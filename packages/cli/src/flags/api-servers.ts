import type { KnownFlags, RefusedFlags } from "./table.ts";

/** Flags that count for every server: of the listener, its callers, its audit log and its own log. `view` and `proxy-addresses` are ours. */
export const TAKEN_BY_ALL = {
  "bind-address": "text",
  "secure-port": "text",
  "tls-cert-file": "text",
  "tls-private-key-file": "text",
  view: "list",
  "client-ca-file": "text",
  "anonymous-auth": "switch",
  "requestheader-client-ca-file": "text",
  "requestheader-allowed-names": "list",
  "requestheader-username-headers": "list",
  "requestheader-uid-headers": "list",
  "requestheader-group-headers": "list",
  "requestheader-extra-headers-prefix": "list",
  "proxy-addresses": "list",
  "etcd-servers": "list",
  "etcd-prefix": "text",
  "etcd-cafile": "text",
  "etcd-certfile": "text",
  "etcd-keyfile": "text",
  "etcd-credentials-file": "text",
  "audit-policy-file": "text",
  "audit-log-path": "text",
  "audit-log-format": "text",
  "audit-log-mode": "text",
  "audit-log-maxage": "text",
  "audit-log-maxbackup": "text",
  "audit-log-maxsize": "text",
  "logging-format": "text",
  v: "text",
} as const;

/** Flags of Kubernetes' API servers that no server of ours needs. */
export const IGNORED_BY_ALL: readonly KnownFlags[] = [
  { names: "profiler-address", why: "Node has tools of its own" },
  { names: "permit-address-sharing permit-port-sharing", kind: "switch", why: "Node decides that" },
  {
    names: "audit-log-batch-throttle-enable audit-log-truncate-enabled",
    kind: "switch",
    why: "the audit log has bounds of its own",
  },
  { names: "audit-log-batch-* audit-log-truncate-* audit-log-version", why: "the audit log has bounds of its own" },
  { names: "audit-log-compress", kind: "switch", why: "old audit logs are not compressed" },
  { names: "http2-max-streams-per-connection vmodule", why: "it has no effect" },
  { names: "log-json-split-stream log-text-split-stream", kind: "switch", why: "lines are written at once" },
  { names: "log-flush-frequency log-json-* log-text-*", why: "lines are written at once" },
];

/** Flags of Kubernetes' API servers that protect something. */
export const REFUSED_BY_ALL: readonly RefusedFlags[] = [
  {
    names: "audit-webhook-batch-throttle-enable audit-webhook-truncate-enabled",
    kind: "switch",
    why: "audit events go into a file: name it with --audit-log-path",
  },
  { names: "audit-webhook-*", why: "audit events go into a file: name it with --audit-log-path" },
  {
    names: "tls-min-version",
    unless: ["VersionTLS10", "VersionTLS11", "VersionTLS12"],
    why: "TLS is 1.2 or newer: leave it out, or put a proxy in front that takes newer only",
  },
  { names: "tls-cipher-suites", why: "ciphers are modern ones only and cannot be chosen: leave it out" },
  { names: "tls-curve-preferences", why: "key exchanges are modern ones only and cannot be chosen: leave it out" },
  { names: "tls-sni-cert-key", why: "all clients see one certificate, that of --tls-cert-file" },
  {
    names: "disable-http2-serving",
    kind: "switch",
    unless: ["false"],
    why: "HTTP/2 is always offered, within bounds: leave it out, or put a proxy in front that does without",
  },
];
