import {
  ANONYMOUS_FLAGS,
  AUDIT_FLAGS,
  AUTHORIZATION_FLAGS,
  CERTIFICATE_FLAGS,
  CONSOLE_FLAGS,
  CONSOLE_OIDC_FLAGS,
  ETCD_FLAGS,
  GATE_FLAGS,
  IGNORED_BY_ALL,
  ISSUER_FLAGS,
  LISTENER_FLAGS,
  LOG_FLAGS,
  port,
  QUIET_FLAGS,
  REFUSED_BY_ALL,
  REQUEST_HEADER_FLAGS,
  SHUTDOWN_FLAGS,
  TOKEN_FLAGS,
} from "../flags/servers.ts";
import {
  type CommandLine,
  commandLine,
  type FlagSet,
  type KcpFlags,
  type KnownFlags,
  type RefusedFlags,
  type Values,
} from "../flags/table.ts";
import { checkFeatures, featureSections, mistypedFlags } from "./feature-flags.ts";
import { type ListedFeature, startFeatures } from "./features.ts";

const WHERE = {
  "root-directory": {
    type: "path",
    value: "folder",
    default: ".kcp",
    help: "Folder of keys, certificates, kubeconfig and data.",
  },
  "cert-dir": { type: "path", value: "folder", otherwise: "the root directory", help: "Folder of apiserver.crt." },
  "kubeconfig-path": {
    type: "path",
    value: "file",
    otherwise: "admin.kubeconfig in the root directory",
    help: "Kubeconfig of the administrators.",
  },
  "authentication-admin-token-path": {
    type: "path",
    value: "file",
    otherwise: ".admin-token-store in the root directory",
    help: "File with the hash of the administrators' tokens.",
  },
  "keep-kubeconfig": {
    type: "switch",
    help: "Keep admin.kubeconfig valid across restarts: its tokens and, with --experimental-bind-free-port, its port if that is free. Security: a copy of the file gives access until it and the token file are removed.",
  },
  "secure-port": port(6443),
  "experimental-bind-free-port": { type: "switch", help: "Listen on any free port, with --secure-port=0." },
  "external-hostname": {
    type: "text",
    value: "name",
    otherwise: "an address of this machine",
    help: "Host name at which clients reach the server.",
  },
  "shard-base-url": { type: "text", value: "url", otherwise: "https://<host>:<port>", help: "URL of the server." },
  "shard-external-url": {
    type: "text",
    value: "url",
    otherwise: "the base URL",
    help: "External URL, which Workspaces have in their spec.",
  },
  "shard-virtual-workspace-url": {
    type: "text",
    value: "url",
    otherwise: "the base URL",
    help: "URL of the virtual workspaces. {shard} in its host stands for the name of the shard.",
  },
} as const satisfies FlagSet;

const FEATURES = {
  "batteries-included": {
    type: "list",
    value: "names",
    otherwise: "admin,workspace-types",
    help: `Optional parts: admin, workspace-types, user, ${batteriesText()}, demo. +demo adds one to the default.`,
  },
  feature: {
    type: "list",
    value: "module",
    help: "File or package whose default export is a feature; --feature=<module> --help shows its flags. Security: its code runs with the rights of the server.",
  },
} as const satisfies FlagSet;

const WORKSPACES = {
  "enable-home-workspaces": { type: "switch", default: true, help: "Give every user a home workspace." },
  "home-workspaces-home-creator-groups": {
    type: "list",
    value: "groups",
    otherwise: "system:authenticated",
    help: "Groups whose members get a home workspace.",
  },
  "logical-cluster-total-object-limit": {
    type: "number",
    value: "number",
    default: 0,
    most: 1e12, // above what a store can hold
    help: "Largest number of objects in a workspace; 0 for no limit.",
  },
  shards: {
    type: "number",
    value: "number",
    default: 1,
    most: 64, // above what one process can serve
    help: "Minimum number of shards in this process: root, shard-1, …",
  },
} as const satisfies FlagSet;

const WHO = {
  "client-ca-file": { ...CERTIFICATE_FLAGS["client-ca-file"], otherwise: "generated: client-ca.crt, client-ca.key" },
  ...ANONYMOUS_FLAGS,
  ...TOKEN_FLAGS,
  ...ISSUER_FLAGS,
  ...REQUEST_HEADER_FLAGS,
  ...CONSOLE_OIDC_FLAGS,
} as const satisfies FlagSet;

const SERVICE_ACCOUNTS = {
  "service-account-issuer": {
    type: "list",
    value: "url",
    otherwise: "https://kcp.default.svc",
    help: "Issuer of service account tokens; of several, the first one issues.",
  },
  "service-account-jwks-uri": {
    type: "text",
    value: "url",
    otherwise: "of each workspace",
    help: "URL of the issuer's keys.",
  },
  "service-account-private-key-file": {
    type: "path",
    value: "file",
    otherwise: "sa.key in the root directory, generated",
    help: "Key that signs service account tokens.",
  },
  "service-account-signing-key-file": {
    type: "path",
    value: "file",
    help: "Same as --service-account-private-key-file.",
  },
  "service-account-key-file": {
    type: "list",
    value: "file",
    help: "Key that verifies service account tokens. Repeat for several.",
  },
  "api-audiences": {
    type: "list",
    value: "names",
    otherwise: "the issuers",
    help: "Audiences of service account tokens.",
  },
  "root-ca-file": {
    type: "path",
    value: "file",
    otherwise: "those of the server",
    help: "Certificate authorities of the server, as pods see them (kube-root-ca.crt).",
  },
} as const satisfies FlagSet;

const OBJECTS = {
  ...ETCD_FLAGS,
  "etcd-servers": {
    ...ETCD_FLAGS["etcd-servers"],
    otherwise: "embedded",
    help: "Store of the objects: embedded, or URLs of etcd such as https://a:2379,https://b:2379.",
  },
  "embedded-etcd-directory": {
    type: "path",
    value: "folder",
    otherwise: "data in the root directory",
    help: "Folder of the embedded store.",
  },
} as const satisfies FlagSet;

const OPERATION = {
  ...AUDIT_FLAGS,
  ...SHUTDOWN_FLAGS,
  ...LOG_FLAGS,
  ...QUIET_FLAGS,
  "feature-gates": {
    ...GATE_FLAGS["feature-gates"],
    help: "Feature gates, separated by commas: CacheAPIs (virtual storage of exports; with true also cached resources), WorkspaceMounts (mounted workspaces), WorkspaceAuthentication (logins by workspace type), EnableDeprecatedAPIExportVirtualWorkspacesUrls (status.virtualWorkspaces of APIExports). All are on by default, except for cached resources; <name>=false turns one off.",
  },
} as const satisfies FlagSet;

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "embedded-etcd-*", why: "the embedded store is not etcd: it has no ports, members or logs" },
  { names: "etcd-compaction-interval etcd-count-metric-poll-period etcd-*-timeout", why: "the store does that itself" },
  {
    names: "watch-cache-sizes default-watch-cache-size storage-media-type storage-backend",
    why: "the store is not etcd's registry",
  },
  { names: "watch-cache enable-garbage-collector", kind: "switch", why: "the store is not etcd's registry" },
  { names: "enable-leader-election", kind: "switch", why: "controllers of all processes are active" },
  { names: "leader-election-*", why: "controllers of all processes are active" },
  {
    names: "logical-cluster-admin-kubeconfig external-logical-cluster-admin-kubeconfig",
    why: "the server connects to itself without a kubeconfig",
  },
  { names: "profiling contention-profiling", kind: "switch", why: "Node.js has profilers of its own" },
  { names: "shutdown-send-retry-after", kind: "switch", why: "Retry-After is always sent" },
  { names: "goaway-chance event-ttl", why: "it has no effect" },
  { names: "max-*-inflight *request-timeout livez-grace-period tracing-config-file", why: "it has no effect" },
  { names: "logical-cluster-object-count-scan-interval", why: "objects are counted as they come and go" },
  { names: "conversion-cel-*", why: "it has no effect" },
  { names: "concurrent-serviceaccount-token-syncs shutdown-watch-*", why: "it has no effect" },
  { names: "etcd-db-metric-poll-interval lease-reuse-duration-seconds", why: "the store does that itself" },
  { names: "allow-metric-labels* disabled-metrics show-hidden-metrics-for-version", why: "the metrics are fixed" },
  { names: "enable-logs-handler", kind: "switch", why: "logs are written to stderr" },
  { names: "identity-lease-* coordinated-leadership-* lease-resource-name", why: "it has no effect" },
  { names: "max-connection-bytes-per-sec debug-socket-path", why: "it has no effect" },
  {
    names: "proxy-client-cert-file proxy-client-key-file",
    why: "webhooks get no client certificate, and there are no aggregated API servers",
  },
  { names: "emulated-version min-compatibility-version", why: "the server has one version" },
  {
    names: "emulation-forward-compatible runtime-config-emulation-forward-compatible",
    kind: "switch",
    why: "the server has one version",
  },
  { names: "virtual-workspaces-* home-workspaces-root", why: "it has no effect" },
];

const PERMISSIONS = "RBAC in the workspaces authorizes: remove the flag";
const ONE_SHARD = "all shards are in this process: use --shards, and remove the flag";

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
  {
    names: "authentication-token-webhook-* authentication-kubeconfig",
    why: "tokens are not reviewed by another server: use --token-auth-file or --oidc-issuer-url",
  },
  { names: "authorization-kubeconfig", why: PERMISSIONS },
  { names: "authorization-policy-file", why: PERMISSIONS },
  { names: "authorization-mode", unless: ["RBAC"], why: "use --authorization-order, or --authorization-config" },
  { names: "authorization-always-allow-groups", unless: ["system:masters"], why: PERMISSIONS },
  {
    names: "encryption-provider-config encryption-provider-config-automatic-reload",
    why: "objects are not encrypted: encrypt the disk, and remove the flag",
  },
  {
    names: "admission-control-config-file enable-admission-plugins disable-admission-plugins admission-control",
    why: "admission is built in: remove the flag",
  },
  { names: "strict-transport-security-directives", why: "the header is not sent: add it in a proxy in front" },
  { names: "egress-selector-config-file", why: "connections are direct: remove the flag" },
  { names: "oidc-signing-algs", why: "the issuer's keys decide (RS, PS and ES): remove the flag" },
  { names: "service-account-lookup", kind: "switch", unless: ["true"], why: "accounts are always looked up" },
  { names: "service-account-max-token-expiration", why: "the request for a token sets its duration: remove the flag" },
  {
    names: "service-account-extend-token-expiration",
    kind: "switch",
    why: "tokens are valid for the requested time: remove the flag",
  },
  { names: "shard-name", unless: ["root"], why: ONE_SHARD },
  { names: "cache-* root-shard-kubeconfig-file shard-kubeconfig-file root-identities-file", why: ONE_SHARD },
  {
    names: "enable-bootstrap-token-auth",
    kind: "switch",
    unless: ["false"],
    why: "bootstrap tokens do not authenticate: use --token-auth-file",
  },
  { names: "service-account-api-audiences", why: "use --api-audiences" },
  { names: "etcd-servers-overrides", why: "all objects are in one store: use --etcd-servers" },
  { names: "run-controllers", kind: "switch", unless: ["true"], why: "controllers always run: remove the flag" },
  { names: "unsupported-run-individual-controllers", why: "controllers always run: remove the flag" },
];

/**
 * Flags with the names, defaults and meanings of `kcp start`. This project adds `feature`, `view`, `shards`,
 * `keep-kubeconfig`, `console`, `console-panel`, `console-session-key-file`, `console-oidc-*`, `cluster-proxy-hub-url`, `workspace-issuer-allow`, `admission-webhook-allow`, `mount-allow`, `mount-ca-file` and
 * `mount-caller-hosts`.
 */
const SECTIONS = {
  Serving: { ...WHERE, ...LISTENER_FLAGS, ...CONSOLE_FLAGS },
  Features: FEATURES,
  Workspaces: WORKSPACES,
  Authentication: WHO,
  Authorization: AUTHORIZATION_FLAGS,
  "Service accounts": SERVICE_ACCOUNTS,
  Storage: OBJECTS,
  Operation: OPERATION,
} as const;

const KCP: KcpFlags = {
  ignored: IGNORED,
  refused: REFUSED,
  words: "use flags, such as --root-directory .kcp",
};

const OWN = commandLine({
  program: "virtual-workspaces start",
  words: "",
  summary: "serve workspaces as kcp does",
  description: `Serves workspaces as kcp does, from one process. Each logical cluster below /clusters has its own namespaces, kinds and permissions. The flags are those of \`kcp start\`. An unknown flag is an error, and so is a flag of kcp that would protect something and is not implemented. Ctrl-C or SIGTERM stops it gracefully, a second one at once.

Examples:
  virtual-workspaces start --bind-address=127.0.0.1              a server for this machine, with data in .kcp
  virtual-workspaces start --view=./published.ts                 with a view over the workspaces
  virtual-workspaces start --etcd-servers=https://etcd:2379      with objects in etcd
  virtual-workspaces start --batteries-included=+mounts,+spaces  with mounts and spaces`,
  sections: SECTIONS,
  kcp: KCP,
});

/** Values of the flags, without those of features. */
export type StartFlags = Values<(typeof OWN)["flags"]>;

/**
 * Returns the command line of `virtual-workspaces start`: its own flags, and those of features.
 *
 * @throws Failure on conflicting features
 */
export function startLine(features: readonly ListedFeature[] = startFeatures()): CommandLine<(typeof OWN)["flags"]> {
  checkFeatures(features, OWN);
  const { Serving, Features, ...others } = SECTIONS;
  const isModule = ({ module }: ListedFeature): boolean => module !== undefined;
  const sections = {
    Serving,
    ...featureSections(features.filter((one) => !isModule(one))),
    Features,
    ...featureSections(features.filter(isModule)),
    ...others,
  };
  const kcp = { ...KCP, ...mistypedFlags(features) };
  return commandLine({ ...OWN, sections, kcp }) as CommandLine<(typeof OWN)["flags"]>;
}

function batteriesText(): string {
  return startFeatures()
    .flatMap(({ feature: { name }, battery }) => (battery === undefined ? [] : [`${name} (${battery})`]))
    .join(", ");
}
