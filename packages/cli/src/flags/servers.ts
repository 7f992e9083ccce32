import type { FlagSet, KnownFlags, RefusedFlags } from "./table.ts";

// Flags that several servers share, with the names, defaults and meanings of Kubernetes' API servers and kcp's.

const REQUEST_HEADERS_OF = "With --requestheader-client-ca-file: ";

export const LISTENER_FLAGS = {
  "bind-address": { type: "text", value: "ip", default: "0.0.0.0", help: "Address to listen on." },
  "tls-cert-file": {
    type: "path",
    value: "file",
    help: "Certificate of the server, PEM. Its authorities may follow in the file.",
  },
  "tls-private-key-file": { type: "path", value: "file", help: "Key of --tls-cert-file, PEM." },
  "proxy-addresses": {
    type: "list",
    value: "addresses",
    otherwise: "127.0.0.0/8,::1",
    help: "Addresses and subnets of proxies that limit failed logins themselves: the server does not count failed logins from there.",
  },
  "cors-allowed-origins": {
    type: "list",
    value: "expressions",
    help: "Origins of browser pages that may read responses (CORS) and open WebSockets: regular expressions, separated by commas, anchored at both ends of the host, such as ^https://console\\.example\\.com$. Without the flag, only pages of the server's own origin may open WebSockets.",
  },
} as const satisfies FlagSet;

/** The console. Servers differ in whether they have one by default. */
export const CONSOLE_FLAGS = {
  console: {
    type: "switch",
    default: true,
    help: "Serve the console, a web page for workspaces and their objects, at /console.",
  },
  "console-panel": {
    type: "list",
    value: "file",
    help: "Module whose default export is a panel of the console, a list of panels, or a view with panels. Views of the server itself bring their panels. Security: its code runs with the rights of the server, and that of its panels with those of each user.",
  },
  "console-session-key-file": {
    type: "path",
    value: "file",
    otherwise: ".console-session-key in the root directory, generated",
    help: "Key of the console's sessions: 32 random bytes as base64, the same in all processes behind one address. A new key ends all sessions. Security: the key opens every session.",
  },
} as const satisfies FlagSet;

/** Signing in to the console by OpenID Connect. */
export const CONSOLE_OIDC_FLAGS = {
  "console-oidc-client-id": {
    type: "text",
    value: "id",
    help: "Client at the issuer with which users sign in to the console. Its redirect URI is <server>/console/callback, and the server must accept its tokens.",
  },
  "console-oidc-issuer-url": {
    type: "text",
    value: "url",
    otherwise: "--oidc-issuer-url",
    help: "Issuer of that client.",
  },
  "console-oidc-client-secret-file": {
    type: "path",
    value: "file",
    otherwise: "a public client",
    help: "File with the secret of that client.",
  },
  "console-oidc-scopes": {
    type: "list",
    value: "scopes",
    otherwise: "openid,profile,email",
    help: "Scopes to request, such as those of groups.",
  },
} as const satisfies FlagSet;

/** Certificates that authenticate callers, and proxies that name them. */
export const CERTIFICATE_FLAGS = {
  "client-ca-file": { type: "path", value: "file", help: "Certificate authorities of users." },
} as const satisfies FlagSet;

export const REQUEST_HEADER_FLAGS = {
  "requestheader-client-ca-file": {
    type: "path",
    value: "file",
    help: "Certificate authorities of front proxies, whose headers name the user.",
  },
  "requestheader-allowed-names": {
    type: "list",
    value: "names",
    otherwise: "all",
    help: `${REQUEST_HEADERS_OF}common names of the front proxies' certificates.`,
  },
  "requestheader-username-headers": {
    type: "list",
    value: "headers",
    otherwise: "X-Remote-User",
    help: `${REQUEST_HEADERS_OF}headers with the user's name.`,
  },
  "requestheader-uid-headers": {
    type: "list",
    value: "headers",
    help: `${REQUEST_HEADERS_OF}headers with the user's UID.`,
  },
  "requestheader-group-headers": {
    type: "list",
    value: "headers",
    otherwise: "X-Remote-Group",
    help: `${REQUEST_HEADERS_OF}headers with the user's groups.`,
  },
  "requestheader-extra-headers-prefix": {
    type: "list",
    value: "prefixes",
    otherwise: "X-Remote-Extra-",
    help: `${REQUEST_HEADERS_OF}prefixes of headers with extra of the user.`,
  },
} as const satisfies FlagSet;

export const ANONYMOUS_FLAGS = {
  "anonymous-auth": {
    type: "switch",
    otherwise: "true",
    help: "Accept requests without credentials, as system:anonymous.",
  },
} as const satisfies FlagSet;

/** Users with tokens, and users of OpenID Connect. */
export const TOKEN_FLAGS = {
  "token-auth-file": {
    type: "path",
    value: "file",
    help: 'File with tokens of users: lines of token,user,uid,"group1,group2".',
  },
  "authentication-config": {
    type: "path",
    value: "file",
    help: "Kubernetes' AuthenticationConfiguration, in place of --oidc-*. Read again when it changes.",
  },
  "oidc-issuer-url": { type: "text", value: "url", help: "Issuer of OpenID Connect tokens." },
  "oidc-client-id": { type: "text", value: "id", help: "Audience of OpenID Connect tokens." },
  "oidc-ca-file": {
    type: "path",
    value: "file",
    otherwise: "those of Node.js",
    help: "Certificate authorities of the issuer.",
  },
  "oidc-username-claim": { type: "text", value: "claim", otherwise: "sub", help: "Claim with the user's name." },
  "oidc-username-prefix": {
    type: "text",
    value: "prefix",
    otherwise: "the issuer's URL and #, none for email",
    help: "Prefix of user names; - for none.",
  },
  "oidc-groups-claim": { type: "text", value: "claim", help: "Claim with the user's groups." },
  "oidc-groups-prefix": { type: "text", value: "prefix", help: "Prefix of group names." },
  "oidc-required-claim": { type: "list", value: "claim=value", help: "Claims that a token must have." },
} as const satisfies FlagSet;

/** Authorizers besides RBAC in the workspaces. */
export const AUTHORIZATION_FLAGS = {
  "authorization-order": {
    type: "list",
    value: "names",
    otherwise: "AlwaysAllowGroups,AlwaysAllowPaths,RBAC,Webhook",
    help: "Authorizers in order: the first that allows or denies decides, and names that are left out do not. Security: Webhook before RBAC may allow what workspaces forbid.",
  },
  "authorization-always-allow-paths": {
    type: "list",
    value: "paths",
    otherwise: "/healthz,/readyz,/livez",
    help: "Paths that every caller may request. A path may end with *.",
  },
  "authorization-webhook-config-file": {
    type: "path",
    value: "file",
    help: "Kubeconfig of a webhook that authorizes with SubjectAccessReviews. Security: it gets name, groups and requests of callers.",
  },
  "authorization-webhook-version": {
    type: "text",
    value: "version",
    otherwise: "v1beta1",
    help: "Version of the reviews: v1 or v1beta1.",
  },
  "authorization-webhook-cache-authorized-ttl": {
    type: "duration",
    value: "time",
    otherwise: "5m",
    help: "Time to cache that the webhook allows a request.",
  },
  "authorization-webhook-cache-unauthorized-ttl": {
    type: "duration",
    value: "time",
    otherwise: "30s",
    help: "Time to cache that it does not.",
  },
  "authorization-config": {
    type: "path",
    value: "file",
    help: "Kubernetes' AuthorizationConfiguration, with several webhooks, in place of --authorization-order and --authorization-webhook-*. Read again when it changes.",
  },
} as const satisfies FlagSet;

export const ISSUER_FLAGS = {
  "workspace-issuer-allow": {
    type: "list",
    value: "hosts",
    otherwise: "none",
    help: "Hosts that workspace types may name as issuers of tokens although they are restricted. Restricted hosts are this machine (by any name or address), link-local addresses, and metadata services of clouds.",
  },
} as const satisfies FlagSet;

export const ETCD_FLAGS = {
  "etcd-servers": {
    type: "texts",
    value: "urls",
    help: "URLs of etcd, which stores the objects: https://a:2379,https://b:2379.",
  },
  "etcd-prefix": {
    type: "text",
    value: "path",
    otherwise: "/virtual-workspaces",
    help: "Prefix of all keys in etcd.",
  },
  "etcd-cafile": {
    type: "text",
    value: "file",
    otherwise: "those of Node.js",
    help: "Certificate authorities of etcd.",
  },
  "etcd-certfile": { type: "text", value: "file", help: "Client certificate for etcd, with --etcd-keyfile." },
  "etcd-keyfile": { type: "text", value: "file", help: "Key of --etcd-certfile." },
  "etcd-credentials-file": {
    type: "text",
    value: "file",
    help: "File with the etcd user, name:password; or set ETCD_USERNAME and ETCD_PASSWORD.",
  },
} as const satisfies FlagSet;

/** Flags that choose a store. */
export const STORE_FLAGS = {
  "data-dir": { type: "text", value: "folder", help: "Folder that stores the objects." },
  ...ETCD_FLAGS,
} as const satisfies FlagSet;

/** Number of processes behind one port. */
export const WORKER_FLAGS = {
  workers: {
    type: "text",
    value: "number",
    default: "1",
    help: "Processes that share the port; 0 for one for each processor.",
  },
} as const satisfies FlagSet;

/** Upper bound for days, files and MiB. */
const MOST_AUDIT = 1_000_000;

export const AUDIT_FLAGS = {
  "audit-policy-file": { type: "path", value: "file", help: "Audit policy (audit.k8s.io/v1)." },
  "audit-log-path": { type: "text", value: "file", help: "Audit log file; - for stdout." },
  "audit-log-format": { type: "text", value: "json", default: "json", help: "Format of the audit log." },
  "audit-log-mode": {
    type: "text",
    value: "blocking|blocking-strict|batch",
    default: "blocking",
    help: "blocking: a response ends once its events are written; batch: events may be lost.",
  },
  "audit-log-maxage": {
    type: "number",
    value: "days",
    default: 0,
    most: MOST_AUDIT,
    help: "Days to keep old audit logs; 0 for no limit.",
  },
  "audit-log-maxbackup": {
    type: "number",
    value: "number",
    default: 0,
    most: MOST_AUDIT,
    help: "Number of old audit logs to keep; 0 for all.",
  },
  "audit-log-maxsize": {
    type: "number",
    value: "MiB",
    default: 100,
    most: MOST_AUDIT,
    help: "Size at which the audit log is rotated.",
  },
} as const satisfies FlagSet;

export const LOG_FORMAT_FLAGS = {
  "logging-format": { type: "text", value: "text|json", default: "text", help: "Format of the log, on stderr." },
} as const satisfies FlagSet;

export const LOG_FLAGS = {
  ...LOG_FORMAT_FLAGS,
  v: { type: "number", value: "number", default: 2, most: 100, help: "Verbosity: from 3 on requests are logged." },
} as const satisfies FlagSet;

export const QUIET_FLAGS = {
  quiet: { type: "switch", help: "Print no progress. Progress is printed only if stderr is a terminal." },
} as const satisfies FlagSet;

export const SHUTDOWN_FLAGS = {
  "shutdown-delay-duration": {
    type: "duration",
    value: "time",
    default: 0,
    help: "Keep serving for this long after /readyz starts to fail.",
  },
} as const satisfies FlagSet;

export const GATE_FLAGS = {
  "feature-gates": { type: "list", value: "name=true|false", help: "Feature gates of kcp, separated by commas." },
} as const satisfies FlagSet;

/** Port flag of a server, each with a default of its own. */
export const port = <const Default extends number>(of: Default, more = "") =>
  ({ type: "number", value: "port", default: of, most: 65_535, help: `Port to listen on.${more}` }) as const;

/** Flags of Kubernetes' API servers that have no effect here. */
export const IGNORED_BY_ALL: readonly KnownFlags[] = [
  { names: "profiler-address", why: "Node.js has profilers of its own" },
  { names: "permit-address-sharing permit-port-sharing", kind: "switch", why: "Node.js decides that" },
  {
    names: "audit-log-batch-throttle-enable audit-log-truncate-enabled",
    kind: "switch",
    why: "the audit log has limits of its own",
  },
  { names: "audit-log-batch-* audit-log-truncate-* audit-log-version", why: "the audit log has limits of its own" },
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
    why: "audit events are written to a file: use --audit-log-path",
  },
  { names: "audit-webhook-*", why: "audit events are written to a file: use --audit-log-path" },
  {
    names: "tls-min-version",
    unless: ["VersionTLS10", "VersionTLS11", "VersionTLS12"],
    why: "the minimum is TLS 1.2: remove the flag, or use a proxy in front with a higher minimum",
  },
  { names: "tls-cipher-suites", why: "only modern ciphers are used: remove the flag" },
  { names: "tls-curve-preferences", why: "only modern key exchanges are used: remove the flag" },
  { names: "tls-sni-cert-key", why: "the server has one certificate, that of --tls-cert-file: remove the flag" },
  {
    names: "disable-http2-serving",
    kind: "switch",
    unless: ["false"],
    why: "HTTP/2 is always offered: remove the flag, or use a proxy in front without it",
  },
];
