/** What a flag takes: a text, several texts (given again, or with commas between), or only whether it is there. */
export type FlagKind = "text" | "list" | "switch";

/** The flags that count. Names, defaults and meanings are those of `kcp start`, but for `view` and `shards`, which are ours. */
export const TAKEN = {
  "root-directory": "text",
  "bind-address": "text",
  "secure-port": "text",
  "experimental-bind-free-port": "switch",
  "external-hostname": "text",
  "cert-dir": "text",
  "tls-cert-file": "text",
  "tls-private-key-file": "text",
  "kubeconfig-path": "text",
  "authentication-admin-token-path": "text",
  "batteries-included": "list",
  "shard-base-url": "text",
  "shard-external-url": "text",
  "shard-virtual-workspace-url": "text",
  "run-virtual-workspaces": "switch",
  "shard-virtual-workspace-ca-file": "text",
  "shard-client-cert-file": "text",
  "shard-client-key-file": "text",
  view: "list",
  "feature-gates": "list",
  "enable-home-workspaces": "switch",
  "home-workspaces-home-creator-groups": "list",
  "logical-cluster-total-object-limit": "text",
  "token-auth-file": "text",
  "client-ca-file": "text",
  "anonymous-auth": "switch",
  "authentication-config": "text",
  "requestheader-client-ca-file": "text",
  "requestheader-allowed-names": "list",
  "requestheader-username-headers": "list",
  "requestheader-uid-headers": "list",
  "requestheader-group-headers": "list",
  "requestheader-extra-headers-prefix": "list",
  "oidc-issuer-url": "text",
  "oidc-client-id": "text",
  "oidc-ca-file": "text",
  "oidc-username-claim": "text",
  "oidc-username-prefix": "text",
  "oidc-groups-claim": "text",
  "oidc-groups-prefix": "text",
  "oidc-required-claim": "list",
  "api-audiences": "list",
  "service-account-issuer": "list",
  "service-account-jwks-uri": "text",
  "service-account-key-file": "list",
  "service-account-private-key-file": "text",
  "service-account-signing-key-file": "text",
  "root-ca-file": "text",
  "etcd-servers": "list",
  "etcd-prefix": "text",
  "etcd-cafile": "text",
  "etcd-certfile": "text",
  "etcd-keyfile": "text",
  "etcd-credentials-file": "text",
  "embedded-etcd-directory": "text",
  shards: "text",
  "audit-policy-file": "text",
  "audit-log-path": "text",
  "audit-log-format": "text",
  "audit-log-mode": "text",
  "audit-log-maxage": "text",
  "audit-log-maxbackup": "text",
  "audit-log-maxsize": "text",
  "shutdown-delay-duration": "text",
  "logging-format": "text",
  v: "text",
} as const;

/** The name of a flag that counts. */
export type FlagName = keyof typeof TAKEN;

/** A flag of `kcp start` that we do without: names, `*` at the end for all that begin so, and what to say. */
export interface KnownFlags {
  readonly names: string;
  readonly kind?: FlagKind;
  readonly why: string;
}

/** Nothing is less safe, or missing, without these. */
export const IGNORED: readonly KnownFlags[] = [
  { names: "embedded-etcd-*", why: "the embedded store is no etcd: it has no ports, members or logs" },
  { names: "etcd-compaction-interval etcd-count-metric-poll-period etcd-*-timeout", why: "the store looks after that" },
  { names: "watch-cache-sizes default-watch-cache-size storage-media-type storage-backend", why: "the store is ours" },
  { names: "watch-cache enable-garbage-collector", kind: "switch", why: "the store is ours" },
  { names: "enable-leader-election", kind: "switch", why: "controllers of all processes are at work" },
  { names: "leader-election-*", why: "controllers of all processes are at work" },
  { names: "mount-proxy-client-*", why: "there are no mounts yet" },
  {
    names: "logical-cluster-admin-kubeconfig external-logical-cluster-admin-kubeconfig",
    why: "the server reaches itself without",
  },
  { names: "profiling contention-profiling", kind: "switch", why: "Node has tools of its own" },
  { names: "profiler-address", why: "Node has tools of its own" },
  { names: "permit-address-sharing permit-port-sharing", kind: "switch", why: "Node decides that" },
  { names: "shutdown-send-retry-after", kind: "switch", why: "Retry-After is always sent" },
  { names: "audit-log-batch-* audit-log-truncate-* audit-log-version", why: "the audit log has bounds of its own" },
  { names: "audit-log-compress", kind: "switch", why: "old audit logs are not compressed" },
  { names: "goaway-chance cors-allowed-origins event-ttl http2-max-streams-per-connection", why: "it has no effect" },
  { names: "max-*-inflight *request-timeout livez-grace-period tracing-config-file vmodule", why: "it has no effect" },
  { names: "logical-cluster-object-count-scan-interval", why: "objects are counted as they come and go" },
  { names: "conversion-cel-*", why: "it has no effect" },
  { names: "concurrent-serviceaccount-token-syncs shutdown-watch-*", why: "it has no effect" },
  { names: "log-flush-frequency log-json-* log-text-*", why: "lines are written at once" },
];

const PERMISSIONS = "who may do what is for RBAC in the workspaces to say: leave it out";
const ONE_SHARD = "all shards are in this process, root and as many as --shards says: leave it out";

/** What protects something, or moves it elsewhere: a server that only seems to heed it is worse than none. */
export const REFUSED: readonly (KnownFlags & { readonly unless?: readonly string[] })[] = [
  {
    names: "authentication-token-webhook-* authentication-kubeconfig",
    why: "nobody else is asked about tokens: name users with --token-auth-file, or issuers with --oidc-issuer-url",
  },
  { names: "authorization-webhook-* authorization-kubeconfig authorization-config", why: PERMISSIONS },
  { names: "authorization-mode", unless: ["RBAC"], why: PERMISSIONS },
  {
    names: "authorization-order",
    unless: ["AlwaysAllowGroups,AlwaysAllowPaths,RBAC,Webhook", "AlwaysAllowGroups,AlwaysAllowPaths,RBAC"],
    why: PERMISSIONS,
  },
  { names: "authorization-always-allow-groups", unless: ["system:masters"], why: PERMISSIONS },
  { names: "authorization-always-allow-paths", unless: ["/healthz,/readyz,/livez"], why: PERMISSIONS },
  {
    names: "encryption-provider-config encryption-provider-config-automatic-reload",
    why: "objects are kept as they are: encrypt the disk, or that of etcd, and leave it out",
  },
  { names: "audit-webhook-*", why: "audit events go into a file: name it with --audit-log-path" },
  {
    names: "admission-control-config-file enable-admission-plugins disable-admission-plugins admission-control",
    why: "admission is built in and cannot be chosen: leave it out",
  },
  {
    names: "tls-min-version",
    unless: ["VersionTLS10", "VersionTLS11", "VersionTLS12"],
    why: "TLS is 1.2 or newer: leave it out, or put a proxy in front that takes newer only",
  },
  { names: "tls-cipher-suites", why: "ciphers are modern ones only and cannot be chosen: leave it out" },
  { names: "tls-sni-cert-key", why: "all clients see one certificate, that of --tls-cert-file" },
  { names: "strict-transport-security-directives", why: "the header is not sent: let a proxy in front add it" },
  { names: "egress-selector-config-file", why: "connections are made directly: leave it out" },
  { names: "oidc-signing-algs", why: "the issuer's keys decide, and RS, PS and ES are taken: leave it out" },
  { names: "service-account-lookup", kind: "switch", unless: ["true"], why: "accounts are always looked up" },
  { names: "service-account-max-token-expiration", why: "who asks for a token says how long it lasts: leave it out" },
  {
    names: "service-account-extend-token-expiration",
    kind: "switch",
    why: "tokens last as long as they say: leave it out",
  },
  { names: "shard-name", unless: ["root"], why: ONE_SHARD },
  { names: "cache-* root-shard-kubeconfig-file shard-kubeconfig-file root-identities-file", why: ONE_SHARD },
  { names: "miniproxy-mapping-file", why: "there is no proxy in it: leave it out" },
  { names: "etcd-servers-overrides", why: "all objects are kept in one place: name it with --etcd-servers" },
  { names: "run-controllers", kind: "switch", unless: ["true"], why: "controllers always run: leave it out" },
  { names: "unsupported-run-individual-controllers", why: "controllers always run: leave it out" },
];

/** The entry that has a name. */
export function entryOf<T extends KnownFlags>(entries: readonly T[], name: string): T | undefined {
  return entries.find(({ names }) => names.split(" ").some((pattern) => fits(pattern, name)));
}

/** @param pattern may have one `*`, which stands for any text */
function fits(pattern: string, name: string): boolean {
  const [head = "", tail] = pattern.split("*");
  if (tail === undefined) return pattern === name;
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail);
}
