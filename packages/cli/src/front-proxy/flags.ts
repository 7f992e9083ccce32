import {
  AUDIT_FLAGS,
  CERTIFICATE_FLAGS,
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
import { commandLine, type FlagSet, type KnownFlags, type RefusedFlags, type Values } from "../flags/table.ts";

const ROUTES = {
  "mapping-file": {
    type: "path",
    value: "file",
    help: "What is behind which path, as kcp's: a list of path, backend (or backends, several that are as good as each other), backend_server_ca, proxy_client_cert, proxy_client_key, user_header, group_header, extra_header_prefix. /clusters/ is where workspaces are.",
  },
  "path-mappings": {
    type: "switch",
    default: false,
    help: 'Serve PathMappings in root, too, objects that come and go; "virtual-workspaces manifests @virtual-workspaces/front-proxy" prints their kind, for root. Security: who may write these gets the requests below /services that the file has not, with tokens that nothing here knows.',
  },
  "root-kubeconfig": {
    type: "path",
    value: "file",
    help: "Kubeconfig of an administrator of the workspace root, where the shards are listed.",
  },
  "shards-kubeconfig": {
    type: "path",
    value: "file",
    help: "Kubeconfig of an administrator of the workspaces of every shard; its server does not count.",
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
    help: "Groups that shards are told of, and no others: names, or <prefix>*.",
  },
  "authentication-drop-groups": {
    type: "list",
    value: "groups",
    otherwise: "system:masters,system:kcp:logical-cluster-admin,system:kcp:initializer:*,system:kcp:terminator:*",
    help: "Groups that shards are not told of.",
  },
  ...ISSUER_FLAGS,
} as const satisfies FlagSet;

const BY_SHARDS = "tokens of service accounts are passed on, and the shards verify them";

const IGNORED: readonly KnownFlags[] = [
  ...IGNORED_BY_ALL,
  { names: "root-directory cert-dir", why: "nothing is kept: the certificate is that of --tls-cert-file" },
  { names: "service-account-extend-token-expiration service-account-lookup", kind: "switch", why: BY_SHARDS },
  { names: "service-account-* api-audiences", why: BY_SHARDS },
  { names: "cors-allowed-origins", why: "it has no effect" },
  { names: "oidc-signing-algs", why: "what the issuer's keys are for is taken" },
];

const REFUSED: readonly RefusedFlags[] = [
  ...REFUSED_BY_ALL,
  {
    names: "authentication-token-webhook-*",
    why: "tokens that nobody knows here are passed on, and the shards find out whose they are: leave it out",
  },
];

/** The command line of `virtual-workspaces front-proxy`. Names, defaults and meanings are those of `kcp-front-proxy`, which has neither `--path-mappings` nor `--workspace-issuer-allow`; what else that is given it refuses, and so do we. */
export const FRONT_PROXY = commandLine({
  program: "virtual-workspaces front-proxy",
  words: "",
  summary: "serve the workspaces of all shards, by their paths, and what is behind other paths",
  usage: [
    "--mapping-file <file> --root-kubeconfig <file> --shards-kubeconfig <file>",
    "  --tls-cert-file <file> --tls-private-key-file <file> [flags]",
  ],
  description: `One address for the workspaces of all shards, by their paths, and for servers of virtual workspaces: before shards of ours, or of a kcp. The flags are those of kcp-front-proxy, in whose place it can be put; one that would protect something and is not implemented is refused.

Requests of users that none of these flags makes known are forwarded with their token, and the shard finds out.`,
  sections: {
    "Where requests go": ROUTES,
    Who: WHO,
    Where: { ...LISTENER_FLAGS, "secure-port": port(443, " 0 for any free one.") },
    Operation: {
      ...SHUTDOWN_FLAGS,
      "feature-gates": {
        ...GATE_FLAGS["feature-gates"],
        help: "Feature gates, with commas between: with WorkspaceAuthentication=true, at paths with {cluster}, types of workspaces say who may log in, too, as in kcp.",
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
        why: "no flag of this server, which keeps nothing, has no views, and leaves strangers to the shards: leave it out",
      },
    ],
    words: "name the mapping file with --mapping-file",
  },
});

/** What it is given. */
export type FrontProxyFlags = Values<(typeof FRONT_PROXY)["flags"]>;
