import { IGNORED_BY_ALL, REFUSED_BY_ALL, TAKEN_BY_ALL } from "../flags/api-servers.ts";
import type { FlagTable, KnownFlags, RefusedFlags } from "../flags/table.ts";

/** Names, defaults and meanings are those of kcp's `virtual-workspaces`, but for the last ones, which are ours. */
const OWN = {
  kubeconfig: "text",
  context: "text",
  "cache-kubeconfig": "text",
  "external-logical-cluster-admin-kubeconfig": "text",
  "authentication-kubeconfig": "text",
  "authentication-token-webhook-cache-ttl": "text",
  "shard-name": "text",
  "fallback-url": "text",
  "fallback-ca-file": "text",
  "fallback-client-cert-file": "text",
  "fallback-client-key-file": "text",
  "data-dir": "text",
  workers: "text",
  peers: "text",
  "peer-ca-file": "text",
  "proxy-client-cert-file": "text",
  "proxy-client-key-file": "text",
} as const;

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

/** The flags of kcp's own `virtual-workspaces`. What else it is given it refuses, and so do we. */
export const SERVE: FlagTable & { readonly taken: typeof TAKEN_BY_ALL & typeof OWN } = {
  taken: { ...TAKEN_BY_ALL, ...OWN },
  ignored: IGNORED,
  refused: REFUSED,
  others: "refused",
  words: "name files of views with --view",
};
