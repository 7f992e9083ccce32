import {
  ANONYMOUS_FLAGS,
  AUDIT_FLAGS,
  CERTIFICATE_FLAGS,
  IGNORED_BY_ALL,
  LISTENER_FLAGS,
  LOG_FLAGS,
  port,
  REFUSED_BY_ALL,
  REQUEST_HEADER_FLAGS,
  STORE_FLAGS,
} from "../flags/servers.ts";
import { commandLine, type FlagSet, type KnownFlags, type RefusedFlags, type Values } from "../flags/table.ts";
import { GROUP_FLAGS } from "./workers/group-options.ts";

const WORKSPACES = {
  kubeconfig: {
    type: "path",
    value: "file",
    help: "Kubeconfig of an administrator of the workspaces of a shard, in system:masters.",
  },
  context: { type: "text", value: "name", otherwise: "its current one", help: "Context of --kubeconfig." },
  "cache-kubeconfig": {
    type: "path",
    value: "file",
    otherwise: "--kubeconfig",
    help: "Kubeconfig of kcp's cache server, which has what other shards export.",
  },
  "external-logical-cluster-admin-kubeconfig": {
    type: "path",
    value: "file",
    otherwise: "--kubeconfig",
    help: "Kubeconfig of an administrator of the workspaces of all shards: a front proxy's.",
  },
} as const satisfies FlagSet;

const VIEWS = {
  view: {
    type: "list",
    value: "file",
    help: "File whose default export is a view, a list of views, or a function of { upstream, identity, store, shard, everywhere } that returns either; more than once for several files.",
  },
  "shard-name": { type: "text", value: "name", help: "Shard of the workspaces, for views that publish their URL." },
} as const satisfies FlagSet;

const FALLBACK = {
  "fallback-url": { type: "text", value: "url", help: "Server of those of kcp's views that are not here." },
  "fallback-ca-file": { type: "path", value: "file", help: "Authorities of that server." },
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
    help: "How long a review of a token holds.",
  },
  "client-ca-file": {
    ...CERTIFICATE_FLAGS["client-ca-file"],
    help: "Authorities that certify users, and shards. Security: a member of system:masters may impersonate anybody.",
  },
  ...ANONYMOUS_FLAGS,
  ...REQUEST_HEADER_FLAGS,
} as const satisfies FlagSet;

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "authentication-tolerate-lookup-failure", kind: "switch", why: "nothing is looked up" },
  { names: "cert-dir", why: "the certificate is that of --tls-cert-file" },
  { names: "shard-external-url", why: "kcp does not need it any more either" },
];

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
  {
    names: "authentication-skip-lookup",
    kind: "switch",
    unless: ["true"],
    why: "no kcp tells whose certificates to believe: name the authorities with --client-ca-file and --requestheader-client-ca-file",
  },
  { names: "cache-server-kubeconfig-file", why: "kcp has renamed it: give --cache-kubeconfig" },
];

/** The command line of `virtual-workspaces serve`. Names, defaults and meanings are those of kcp's own `virtual-workspaces`, but for views, fallback, the store and several processes; what else that is given it refuses, and so do we. */
export const SERVE = commandLine({
  program: "virtual-workspaces serve",
  words: "",
  summary: "serve kcp's views, and others, over the workspaces of another server",
  usage: ["--kubeconfig <file> --tls-cert-file <file> --tls-private-key-file <file> [flags]"],
  description: `Serves kcp's own views, and others that are named, over the workspaces of another server: of \`virtual-workspaces start --run-virtual-workspaces=false\`, or of a kcp. The flags are those of kcp's own virtual-workspaces, in whose place it can be put, also without the word serve; one that would protect something and is not implemented is refused.`,
  sections: {
    Workspaces: WORKSPACES,
    Views: VIEWS,
    "Where views keep objects of their own, memory unless it is given": STORE_FLAGS,
    "Views elsewhere": FALLBACK,
    Where: {
      ...LISTENER_FLAGS,
      "secure-port": port(6444, " 0 for any free one."),
      "tls-cert-file": { ...LISTENER_FLAGS["tls-cert-file"], otherwise: ".kcp/apiserver.crt, where it is there" },
      "tls-private-key-file": { ...LISTENER_FLAGS["tls-private-key-file"], otherwise: ".kcp/apiserver.key" },
    },
    "How many": GROUP_FLAGS,
    Who: WHO,
    Operation: { ...AUDIT_FLAGS, ...LOG_FLAGS },
  },
  kcp: { ignored: IGNORED, refused: REFUSED, words: "name files of views with --view" },
});

/** What it is given. */
export type ServeFlags = Values<(typeof SERVE)["flags"]>;
