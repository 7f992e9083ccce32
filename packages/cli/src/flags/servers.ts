import type { FlagSet, KnownFlags, RefusedFlags } from "./table.ts";

// What several servers have in common: names, defaults and meanings are those of Kubernetes' API servers and kcp's.

const REQUEST_HEADERS_OF = "With --requestheader-client-ca-file: ";

export const LISTENER_FLAGS = {
  "bind-address": { type: "text", value: "ip", default: "0.0.0.0", help: "Address to listen on." },
  "tls-cert-file": { type: "path", value: "file", help: "Certificate of the server, PEM." },
  "tls-private-key-file": { type: "path", value: "file", help: "Key of --tls-cert-file, PEM." },
  "proxy-addresses": {
    type: "list",
    value: "addresses",
    otherwise: "127.0.0.0/8,::1",
    help: "Addresses and subnets of proxies in front that limit the failed logins of their own clients: none are counted from there.",
  },
} as const satisfies FlagSet;

/** With which certificates, and as whose word for others, callers are known. */
export const CERTIFICATE_FLAGS = {
  "client-ca-file": { type: "path", value: "file", help: "Authorities that certify users." },
} as const satisfies FlagSet;

export const REQUEST_HEADER_FLAGS = {
  "requestheader-client-ca-file": {
    type: "path",
    value: "file",
    help: "Authorities of front proxies, whose headers name the user.",
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
    help: `${REQUEST_HEADERS_OF}what headers with more about the user begin with.`,
  },
} as const satisfies FlagSet;

export const ANONYMOUS_FLAGS = {
  "anonymous-auth": {
    type: "switch",
    otherwise: "true",
    help: "Whether requests without credentials are let through as system:anonymous.",
  },
} as const satisfies FlagSet;

/** Users by tokens, and of OpenID Connect. */
export const TOKEN_FLAGS = {
  "token-auth-file": { type: "path", value: "file", help: 'Users by tokens: lines of token,user,uid,"group1,group2".' },
  "authentication-config": {
    type: "path",
    value: "file",
    help: "Kubernetes' AuthenticationConfiguration, in place of --oidc-*.",
  },
  "oidc-issuer-url": { type: "text", value: "url", help: "Issuer of OpenID Connect tokens." },
  "oidc-client-id": { type: "text", value: "id", help: "Audience of OpenID Connect tokens." },
  "oidc-ca-file": { type: "path", value: "file", otherwise: "as Node trusts", help: "Authorities of the issuer." },
  "oidc-username-claim": { type: "text", value: "claim", otherwise: "sub", help: "Claim with the user's name." },
  "oidc-username-prefix": {
    type: "text",
    value: "prefix",
    otherwise: "the issuer's URL and #, none for email",
    help: "What the user's name begins with; - for nothing.",
  },
  "oidc-groups-claim": { type: "text", value: "claim", help: "Claim with the user's groups." },
  "oidc-groups-prefix": { type: "text", value: "prefix", help: "What the groups' names begin with." },
  "oidc-required-claim": { type: "list", value: "claim=value", help: "Claims that a token must have." },
} as const satisfies FlagSet;

export const ISSUER_FLAGS = {
  "workspace-issuer-allow": {
    type: "list",
    value: "hosts",
    otherwise: "none",
    help: "Restricted hosts (names, addresses, networks: of this machine, its links, where clouds give out credentials) at which workspace types may have issuers of tokens.",
  },
} as const satisfies FlagSet;

export const ETCD_FLAGS = {
  "etcd-servers": { type: "texts", value: "urls", help: "Keep objects in etcd: https://a:2379,https://b:2379." },
  "etcd-prefix": {
    type: "text",
    value: "path",
    otherwise: "/virtual-workspaces",
    help: "What etcd's keys begin with, all of them this project's.",
  },
  "etcd-cafile": { type: "text", value: "file", otherwise: "as Node trusts", help: "Authorities of etcd." },
  "etcd-certfile": { type: "text", value: "file", help: "Certificate for etcd, with --etcd-keyfile." },
  "etcd-keyfile": { type: "text", value: "file", help: "Key of --etcd-certfile." },
  "etcd-credentials-file": {
    type: "text",
    value: "file",
    help: "User for etcd, name:password; or ETCD_USERNAME and ETCD_PASSWORD.",
  },
} as const satisfies FlagSet;

/** All by which a store is chosen. */
export const STORE_FLAGS = {
  "data-dir": { type: "text", value: "folder", help: "Keep objects in this folder." },
  ...ETCD_FLAGS,
} as const satisfies FlagSet;

/** Days, files and MiB that nobody comes near. */
const MOST_AUDIT = 1_000_000;

export const AUDIT_FLAGS = {
  "audit-policy-file": { type: "path", value: "file", help: "What to write to the audit log: a Policy." },
  "audit-log-path": { type: "text", value: "file", help: "The audit log; - for stdout." },
  "audit-log-format": { type: "text", value: "json", default: "json", help: "Format of the audit log." },
  "audit-log-mode": {
    type: "text",
    value: "blocking|blocking-strict|batch",
    default: "blocking",
    help: "Whether requests wait for the audit log, or events may be lost.",
  },
  "audit-log-maxage": {
    type: "number",
    value: "days",
    default: 0,
    most: MOST_AUDIT,
    help: "Days to keep old audit logs; 0 for ever.",
  },
  "audit-log-maxbackup": {
    type: "number",
    value: "number",
    default: 0,
    most: MOST_AUDIT,
    help: "Old audit logs to keep; 0 for all.",
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

export const SHUTDOWN_FLAGS = {
  "shutdown-delay-duration": {
    type: "duration",
    value: "time",
    default: 0,
    help: "Keep serving for this long after /readyz starts to fail.",
  },
} as const satisfies FlagSet;

export const GATE_FLAGS = {
  "feature-gates": { type: "list", value: "name=true|false", help: "Feature gates of kcp, with commas between." },
} as const satisfies FlagSet;

/** Where a server listens: each has a port of its own. */
export const port = <const Default extends number>(of: Default, more = "") =>
  ({ type: "number", value: "port", default: of, most: 65_535, help: `Port to listen on.${more}` }) as const;

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
