import { IGNORED_BY_ALL, REFUSED_BY_ALL, TAKEN_BY_ALL } from "../flags/api-servers.ts";
import type { FlagTable, KnownFlags, RefusedFlags } from "../flags/table.ts";

/** The flags that count. Names, defaults and meanings are those of `kcp start`, but for `view`, `shards`, `cluster-proxy-hub-url`, `workspace-issuer-allow`, `mount-allow`, `mount-ca-file` and `mount-caller-hosts`, which are ours. */
const OWN = {
  "root-directory": "text",
  "experimental-bind-free-port": "switch",
  "external-hostname": "text",
  "cert-dir": "text",
  "kubeconfig-path": "text",
  "authentication-admin-token-path": "text",
  "batteries-included": "list",
  "cluster-proxy-hub-url": "text",
  "shard-base-url": "text",
  "shard-external-url": "text",
  "shard-virtual-workspace-url": "text",
  "run-virtual-workspaces": "switch",
  "miniproxy-mapping-file": "text",
  "shard-virtual-workspace-ca-file": "text",
  "shard-client-cert-file": "text",
  "shard-client-key-file": "text",
  "feature-gates": "list",
  "enable-home-workspaces": "switch",
  "home-workspaces-home-creator-groups": "list",
  "logical-cluster-total-object-limit": "text",
  "token-auth-file": "text",
  "authentication-config": "text",
  "oidc-issuer-url": "text",
  "oidc-client-id": "text",
  "oidc-ca-file": "text",
  "oidc-username-claim": "text",
  "oidc-username-prefix": "text",
  "oidc-groups-claim": "text",
  "oidc-groups-prefix": "text",
  "oidc-required-claim": "list",
  "workspace-issuer-allow": "list",
  "api-audiences": "list",
  "service-account-issuer": "list",
  "service-account-jwks-uri": "text",
  "service-account-key-file": "list",
  "service-account-private-key-file": "text",
  "service-account-signing-key-file": "text",
  "root-ca-file": "text",
  "mount-proxy-client-cert-file": "text",
  "mount-proxy-client-key-file": "text",
  "mount-ca-file": "text",
  "mount-allow": "list",
  "mount-caller-hosts": "list",
  "embedded-etcd-directory": "text",
  shards: "text",
  "shutdown-delay-duration": "text",
} as const;

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "embedded-etcd-*", why: "the embedded store is no etcd: it has no ports, members or logs" },
  { names: "etcd-compaction-interval etcd-count-metric-poll-period etcd-*-timeout", why: "the store looks after that" },
  { names: "watch-cache-sizes default-watch-cache-size storage-media-type storage-backend", why: "the store is ours" },
  { names: "watch-cache enable-garbage-collector", kind: "switch", why: "the store is ours" },
  { names: "enable-leader-election", kind: "switch", why: "controllers of all processes are at work" },
  { names: "leader-election-*", why: "controllers of all processes are at work" },
  {
    names: "logical-cluster-admin-kubeconfig external-logical-cluster-admin-kubeconfig",
    why: "the server reaches itself without",
  },
  { names: "profiling contention-profiling", kind: "switch", why: "Node has tools of its own" },
  { names: "shutdown-send-retry-after", kind: "switch", why: "Retry-After is always sent" },
  { names: "goaway-chance cors-allowed-origins event-ttl", why: "it has no effect" },
  { names: "max-*-inflight *request-timeout livez-grace-period tracing-config-file", why: "it has no effect" },
  { names: "logical-cluster-object-count-scan-interval", why: "objects are counted as they come and go" },
  { names: "conversion-cel-*", why: "it has no effect" },
  { names: "concurrent-serviceaccount-token-syncs shutdown-watch-*", why: "it has no effect" },
];

const PERMISSIONS = "who may do what is for RBAC in the workspaces to say: leave it out";
const ONE_SHARD = "all shards are in this process, root and as many as --shards says: leave it out";

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
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
  {
    names: "admission-control-config-file enable-admission-plugins disable-admission-plugins admission-control",
    why: "admission is built in and cannot be chosen: leave it out",
  },
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

/** The flags of `kcp start`. Those of other versions of it are warned of. */
export const START: FlagTable & { readonly taken: typeof TAKEN_BY_ALL & typeof OWN } = {
  taken: { ...TAKEN_BY_ALL, ...OWN },
  ignored: IGNORED,
  refused: REFUSED,
  others: "warned of",
  words: "flags name everything, as in --root-directory .kcp",
};
