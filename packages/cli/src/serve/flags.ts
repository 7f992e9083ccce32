import {
  ANONYMOUS_FLAGS,
  AUDIT_FLAGS,
  CERTIFICATE_FLAGS,
  GATE_FLAGS,
  IGNORED_BY_ALL,
  LISTENER_FLAGS,
  LOG_FLAGS,
  port,
  REFUSED_BY_ALL,
  REQUEST_HEADER_FLAGS,
  SHUTDOWN_FLAGS,
  STORE_FLAGS,
  TOKEN_FLAGS,
} from "../flags/servers.ts";
import { commandLine, type FlagSet, type KnownFlags, type RefusedFlags, type Values } from "../flags/table.ts";
import { GROUP_FLAGS } from "./workers/group-options.ts";

const WORKSPACES = {
  kubeconfig: {
    type: "path",
    value: "file",
    help: "Kubeconfig of the server with the workspaces. kcp's own views need a user in system:masters; with --kcp-views=false, one with the rights that virtual-workspaces manifests --rbac prints.",
  },
  context: { type: "text", value: "name", otherwise: "the current context", help: "Context of --kubeconfig." },
  "cache-kubeconfig": {
    type: "path",
    value: "file",
    otherwise: "--kubeconfig",
    help: "Kubeconfig of kcp's cache server, with the exports of other shards.",
  },
  "external-logical-cluster-admin-kubeconfig": {
    type: "path",
    value: "file",
    otherwise: "--kubeconfig",
    help: "Kubeconfig of an administrator of the workspaces of all shards, at a front proxy.",
  },
} as const satisfies FlagSet;

const VIEWS = {
  view: {
    type: "list",
    value: "file",
    help: "File whose default export is a view, a list of views, or a function that returns either. Repeat for several files.",
  },
  "kcp-views": {
    type: "switch",
    default: true,
    help: "Serve kcp's own views as well. Their user must be in system:masters; --kcp-views=false leaves them out.",
  },
  "feature-gates": {
    ...GATE_FLAGS["feature-gates"],
    help: "Feature gates, separated by commas. CacheAPIs=true serves kcp's view of cached resources as well.",
  },
  "shard-name": { type: "text", value: "name", help: "Name of the shard, for views that publish their URLs." },
} as const satisfies FlagSet;

const FALLBACK = {
  "fallback-url": { type: "text", value: "url", help: "URL of a server with the views of kcp that are not here." },
  "fallback-ca-file": { type: "path", value: "file", help: "Certificate authorities of that server." },
  "fallback-client-cert-file": {
    type: "path",
    value: "file",
    help: "Client certificate for that server. Its user needs impersonation rights.",
  },
  "fallback-client-key-file": { type: "path", value: "file", help: "Key of --fallback-client-cert-file." },
} as const satisfies FlagSet;

const WHO = {
  "authentication-kubeconfig": {
    type: "path",
    value: "file",
    otherwise: "--kubeconfig",
    help: "Kubeconfig of the server that reviews tokens.",
  },
  "authentication-token-webhook-cache-ttl": {
    type: "text",
    value: "time",
    otherwise: "10s",
    help: "Time to cache the result of a TokenReview.",
  },
  "client-ca-file": {
    ...CERTIFICATE_FLAGS["client-ca-file"],
    help: "Certificate authorities of users and shards. Security: a member of system:masters may impersonate any user.",
  },
  ...ANONYMOUS_FLAGS,
  ...TOKEN_FLAGS,
  ...REQUEST_HEADER_FLAGS,
} as const satisfies FlagSet;

const METRICS = {
  "metrics-allow-groups": {
    type: "list",
    value: "groups",
    otherwise: "none",
    help: "Groups whose members may read /metrics, besides system:masters.",
  },
} as const satisfies FlagSet;

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "authentication-tolerate-lookup-failure", kind: "switch", why: "nothing is looked up" },
  { names: "cert-dir", why: "the certificate is that of --tls-cert-file" },
  { names: "shard-external-url", why: "current versions of kcp do not need it either" },
];

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
  {
    names: "authentication-skip-lookup",
    kind: "switch",
    unless: ["true"],
    why: "the server does not get certificate authorities from kcp: set them with --client-ca-file and --requestheader-client-ca-file",
  },
  { names: "oidc-signing-algs", why: "the issuer's keys decide (RS, PS and ES): remove the flag" },
  { names: "cache-server-kubeconfig-file", why: "kcp has renamed it: use --cache-kubeconfig" },
];

/** Command line of `serve`: that of kcp's `virtual-workspaces`, with views, fallback, store and several processes added. */
export const SERVE = commandLine({
  program: "virtual-workspaces serve",
  words: "",
  summary: "serve views over the workspaces of another server",
  usage: ["--kubeconfig <file> --tls-cert-file <file> --tls-private-key-file <file> [flags]"],
  description: `Serves kcp's views, and views of yours, over the workspaces of another server: \`virtual-workspaces start --run-virtual-workspaces=false\` or a kcp. The flags are those of kcp's virtual-workspaces, which it replaces; the word serve may be left out. A flag of kcp that would protect something and is not implemented is an error.

Examples:
  virtual-workspaces serve --kubeconfig=.kcp/admin.kubeconfig --context=shard-base \\
    --tls-cert-file=views.crt --tls-private-key-file=views.key
  virtual-workspaces serve --view=./published.ts --workers=4 --kubeconfig=admin.kubeconfig
  virtual-workspaces serve --view=./inventory.ts --kcp-views=false --kubeconfig=narrow.kubeconfig`,
  sections: {
    Workspaces: WORKSPACES,
    Views: VIEWS,
    "Storage of the views (default: in memory)": STORE_FLAGS,
    "Other views": FALLBACK,
    Serving: {
      ...LISTENER_FLAGS,
      "secure-port": port(6444, " 0 for any free one."),
      "tls-cert-file": { ...LISTENER_FLAGS["tls-cert-file"], otherwise: ".kcp/apiserver.crt, if it exists" },
      "tls-private-key-file": { ...LISTENER_FLAGS["tls-private-key-file"], otherwise: ".kcp/apiserver.key" },
    },
    "Workers and replicas": GROUP_FLAGS,
    Authentication: WHO,
    Operation: { ...METRICS, ...SHUTDOWN_FLAGS, ...AUDIT_FLAGS, ...LOG_FLAGS },
  },
  kcp: { ignored: IGNORED, refused: REFUSED, words: "name files of views with --view" },
});

/** Values of the flags. */
export type ServeFlags = Values<(typeof SERVE)["flags"]>;
