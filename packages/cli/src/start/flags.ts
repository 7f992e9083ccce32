import {
  ANONYMOUS_FLAGS,
  AUDIT_FLAGS,
  CERTIFICATE_FLAGS,
  ETCD_FLAGS,
  GATE_FLAGS,
  IGNORED_BY_ALL,
  ISSUER_FLAGS,
  LISTENER_FLAGS,
  LOG_FLAGS,
  port,
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
    help: "Keys, certificates, the kubeconfig, the data.",
  },
  "cert-dir": { type: "path", value: "folder", otherwise: "the root directory", help: "Where apiserver.crt is kept." },
  "kubeconfig-path": {
    type: "path",
    value: "file",
    otherwise: "admin.kubeconfig in the root directory",
    help: "Where administrators find their kubeconfig.",
  },
  "authentication-admin-token-path": {
    type: "path",
    value: "file",
    otherwise: ".admin-token-store in the root directory",
    help: "Where the administrators' tokens are kept.",
  },
  "secure-port": port(6443),
  "experimental-bind-free-port": { type: "switch", help: "Listen on any free port, with --secure-port=0." },
  "external-hostname": {
    type: "text",
    value: "name",
    otherwise: "an address of this machine",
    help: "Host by which clients reach the server.",
  },
  "shard-base-url": { type: "text", value: "url", otherwise: "https://<host>:<port>", help: "URL of the server." },
  "shard-external-url": {
    type: "text",
    value: "url",
    otherwise: "the base URL",
    help: "URL that workspaces have in their spec.",
  },
  "shard-virtual-workspace-url": {
    type: "text",
    value: "url",
    otherwise: "the base URL",
    help: "URL of the virtual workspaces; {shard} in its host is the name of the shard: with several each has its own.",
  },
} as const satisfies FlagSet;

const MODULES = {
  feature: {
    type: "list",
    value: "module",
    help: "Path or package whose default export is a feature, with flags of its own: --feature=<module> --help shows them. Its code runs with the rights of the server.",
  },
} as const satisfies FlagSet;

const WHO = {
  "batteries-included": {
    type: "list",
    value: "names",
    otherwise: "admin,workspace-types",
    help: `admin, workspace-types, user, ${batteriesText()}, demo; +demo adds one.`,
  },
  "enable-home-workspaces": { type: "switch", default: true, help: "Whether users have workspaces of their own." },
  "home-workspaces-home-creator-groups": {
    type: "list",
    value: "groups",
    otherwise: "system:authenticated",
    help: "Groups whose members get a workspace of their own.",
  },
  "client-ca-file": { ...CERTIFICATE_FLAGS["client-ca-file"], otherwise: "made: client-ca.crt, client-ca.key" },
  ...ANONYMOUS_FLAGS,
  ...TOKEN_FLAGS,
  ...ISSUER_FLAGS,
  ...REQUEST_HEADER_FLAGS,
} as const satisfies FlagSet;

const SERVICE_ACCOUNTS = {
  "service-account-issuer": {
    type: "list",
    value: "url",
    otherwise: "https://kcp.default.svc",
    help: "Issuer of tokens; of several the first issues.",
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
    otherwise: "sa.key in the root directory, made",
    help: "Key that signs tokens.",
  },
  "service-account-signing-key-file": { type: "path", value: "file", help: "The same." },
  "service-account-key-file": {
    type: "list",
    value: "file",
    help: "Key that has signed tokens; more than once for several.",
  },
  "api-audiences": { type: "list", value: "names", otherwise: "the issuers", help: "Audiences of tokens." },
  "root-ca-file": {
    type: "path",
    value: "file",
    otherwise: "those of the server",
    help: "Authorities that pods trust the server by.",
  },
} as const satisfies FlagSet;

const OBJECTS = {
  ...ETCD_FLAGS,
  "etcd-servers": {
    ...ETCD_FLAGS["etcd-servers"],
    otherwise: "embedded",
    help: "embedded, or https://a:2379,https://b:2379.",
  },
  "embedded-etcd-directory": {
    type: "path",
    value: "folder",
    otherwise: "data in the root directory",
    help: "Where the embedded store is.",
  },
  "logical-cluster-total-object-limit": {
    type: "number",
    value: "number",
    default: 0,
    most: 1e12, // more than a store has room for
    help: "Objects in each workspace at most; 0 for no limit.",
  },
  shards: {
    type: "number",
    value: "number",
    default: 1,
    most: 64, // more is more than one process can do
    help: "Shards in this process at least: root, shard-1 …",
  },
} as const satisfies FlagSet;

const OPERATION = {
  ...AUDIT_FLAGS,
  ...SHUTDOWN_FLAGS,
  ...LOG_FLAGS,
  "feature-gates": {
    ...GATE_FLAGS["feature-gates"],
    help: "Feature gates, with commas between: CacheAPIs=false (views keep no resources of exports), WorkspaceMounts=false (workspaces are not mounted), WorkspaceAuthentication=false (workspace types do not say who may log in), EnableDeprecatedAPIExportVirtualWorkspacesUrls=false (status.virtualWorkspaces of APIExports stays empty).",
  },
} as const satisfies FlagSet;

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
  { names: "etcd-db-metric-poll-interval lease-reuse-duration-seconds", why: "the store does that itself" },
  { names: "allow-metric-labels* disabled-metrics show-hidden-metrics-for-version", why: "the metrics are fixed" },
  { names: "enable-logs-handler", kind: "switch", why: "logs are written to stderr" },
  { names: "identity-lease-* coordinated-leadership-* lease-resource-name", why: "it has no effect" },
  { names: "max-connection-bytes-per-sec debug-socket-path", why: "it has no effect" },
  {
    names: "proxy-client-cert-file proxy-client-key-file",
    why: "the server calls no webhooks or aggregated API servers",
  },
  { names: "emulated-version min-compatibility-version", why: "the server has one version" },
  {
    names: "emulation-forward-compatible runtime-config-emulation-forward-compatible",
    kind: "switch",
    why: "the server has one version",
  },
  { names: "virtual-workspaces-* home-workspaces-root", why: "it has no effect" },
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
  {
    names: "enable-bootstrap-token-auth",
    kind: "switch",
    unless: ["false"],
    why: "bootstrap tokens do not authenticate: use --token-auth-file",
  },
  { names: "service-account-api-audiences", why: "use --api-audiences" },
  { names: "etcd-servers-overrides", why: "all objects are kept in one place: name it with --etcd-servers" },
  { names: "run-controllers", kind: "switch", unless: ["true"], why: "controllers always run: leave it out" },
  { names: "unsupported-run-individual-controllers", why: "controllers always run: leave it out" },
];

/** Names, defaults and meanings are those of `kcp start`, but for `feature`, `view`, `shards`, `cluster-proxy-hub-url`, `workspace-issuer-allow`, `mount-allow`, `mount-ca-file` and `mount-caller-hosts`, which are ours. */
const SECTIONS = {
  Where: { ...WHERE, ...LISTENER_FLAGS },
  Features: MODULES,
  Who: WHO,
  "Service accounts": SERVICE_ACCOUNTS,
  Objects: OBJECTS,
  Operation: OPERATION,
} as const;

const KCP: KcpFlags = {
  ignored: IGNORED,
  refused: REFUSED,
  words: "flags name everything, as in --root-directory .kcp",
};

const OWN = commandLine({
  program: "virtual-workspaces start",
  words: "",
  summary: "serve workspaces, as kcp does",
  description: `Serves workspaces as kcp does, from one process: logical clusters below /clusters, each with namespaces, kinds and permissions of its own. The flags are those of \`kcp start\`. An unknown flag is an error, and so is a flag of kcp that would protect something and is not implemented. Ctrl-C or SIGTERM ends it cleanly, a second one at once.`,
  sections: SECTIONS,
  kcp: KCP,
});

/** What it is given, the flags of features left out. */
export type StartFlags = Values<(typeof OWN)["flags"]>;

/**
 * The command line of `virtual-workspaces start`: its own flags, and those of features.
 *
 * @throws Failure on features that do not go together
 */
export function startLine(features: readonly ListedFeature[] = startFeatures()): CommandLine<(typeof OWN)["flags"]> {
  checkFeatures(features, OWN);
  const { Where, Features, ...others } = SECTIONS;
  const isModule = ({ module }: ListedFeature): boolean => module !== undefined;
  const sections = {
    Where,
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
