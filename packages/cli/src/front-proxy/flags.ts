import {
  AUDIT_FLAGS,
  CERTIFICATE_FLAGS,
  CONSOLE_FLAGS,
  CONSOLE_OIDC_FLAGS,
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
  WORKER_FLAGS,
} from "../flags/servers.ts";
import { commandLine, type FlagSet, type KnownFlags, type RefusedFlags, type Values } from "../flags/table.ts";

const ROUTES = {
  "mapping-file": {
    type: "path",
    value: "file",
    help: "Mapping file, as kcp's: entries with path, backend (or backends, several equivalent servers), backend_server_ca, proxy_client_cert, proxy_client_key, user_header, group_header, extra_header_prefix. /clusters/ is the path of workspaces.",
  },
  "path-mappings": {
    type: "switch",
    default: false,
    help: 'Map paths with PathMappings in root as well; "virtual-workspaces manifests @virtual-workspaces/front-proxy" prints their kind. Security: a user who may write PathMappings receives requests below /services, with tokens that the proxy does not know.',
  },
  "root-kubeconfig": {
    type: "path",
    value: "file",
    help: "Kubeconfig of an administrator of the workspace root, where the shards are listed.",
  },
  "shards-kubeconfig": {
    type: "path",
    value: "file",
    help: "Kubeconfig of an administrator of the workspaces of every shard; its server is ignored.",
  },
} as const satisfies FlagSet;

const WHO = {
  ...CERTIFICATE_FLAGS,
  ...TOKEN_FLAGS,
  ...REQUEST_HEADER_FLAGS,
  "authentication-pass-on-groups": {
    type: "list",
    value: "groups",
    otherwise: "all",
    help: "Groups to forward to shards, and no others: names, or <prefix>*.",
  },
  "authentication-drop-groups": {
    type: "list",
    value: "groups",
    otherwise: "system:masters,system:kcp:logical-cluster-admin,system:kcp:initializer:*,system:kcp:terminator:*",
    help: "Groups to drop before forwarding to shards.",
  },
  ...ISSUER_FLAGS,
  ...CONSOLE_OIDC_FLAGS,
} as const satisfies FlagSet;

const BY_SHARDS = "tokens of service accounts are forwarded, and the shards verify them";

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "root-directory cert-dir", why: "it stores nothing: use --tls-cert-file" },
  { names: "service-account-extend-token-expiration service-account-lookup", kind: "switch", why: BY_SHARDS },
  { names: "service-account-* api-audiences", why: BY_SHARDS },
  { names: "oidc-signing-algs", why: "the issuer's keys decide" },
];

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
  {
    names: "authentication-token-webhook-*",
    why: "unknown tokens are forwarded, and the shards authenticate them: remove the flag",
  },
];

/** Command line of `front-proxy`: that of `kcp-front-proxy`, with `--path-mappings`, `--workers`, `--console` and `--workspace-issuer-allow` added. */
export const FRONT_PROXY = commandLine({
  program: "virtual-workspaces front-proxy",
  words: "",
  summary: "serve the workspaces of all shards at one address",
  usage: [
    "--mapping-file <file> --root-kubeconfig <file> --shards-kubeconfig <file>",
    "  --tls-cert-file <file> --tls-private-key-file <file> [flags]",
  ],
  description: `Serves the workspaces of all shards, and other servers of virtual workspaces, at one address, for our shards and for kcp's. The flags are those of kcp-front-proxy, which it replaces. A flag of kcp that would protect something and is not implemented is an error.

A request with a token that the proxy does not know is forwarded, and the shard authenticates it.

Examples:
  virtual-workspaces front-proxy --mapping-file=mapping.yaml --root-kubeconfig=root.kubeconfig \\
    --shards-kubeconfig=shards.kubeconfig --tls-cert-file=front.crt --tls-private-key-file=front.key`,
  sections: {
    Routes: ROUTES,
    Authentication: WHO,
    Serving: {
      ...LISTENER_FLAGS,
      "secure-port": port(443, " 0 for any free one."),
      ...WORKER_FLAGS,
      console: { ...CONSOLE_FLAGS.console, default: false },
      "console-panel": CONSOLE_FLAGS["console-panel"],
      "console-session-key-file": {
        ...CONSOLE_FLAGS["console-session-key-file"],
        otherwise: "a random key, which ends with the process",
      },
    },
    Operation: {
      ...SHUTDOWN_FLAGS,
      "feature-gates": {
        ...GATE_FLAGS["feature-gates"],
        help: "Feature gates, separated by commas. WorkspaceAuthentication=true applies the authentication of workspace types at paths with {cluster}, as in kcp.",
      },
      ...AUDIT_FLAGS,
      ...LOG_FLAGS,
    },
  },
  kcp: {
    ignored: IGNORED,
    refused: REFUSED,
    foreign: [
      {
        names:
          "anonymous-auth view etcd-servers etcd-prefix etcd-cafile etcd-certfile etcd-keyfile etcd-credentials-file",
        why: "not a flag of this server, which stores nothing, has no views and leaves anonymous requests to the shards: remove it",
      },
    ],
    words: "set the mapping file with --mapping-file",
  },
});

/** Values of the flags. */
export type FrontProxyFlags = Values<(typeof FRONT_PROXY)["flags"]>;
