import { IGNORED_BY_ALL, REFUSED_BY_ALL, TAKEN_BY_ALL } from "../flags/api-servers.ts";
import type { FlagTable, KnownFlags, RefusedFlags } from "../flags/table.ts";

/** Names, defaults and meanings are those of `kcp-front-proxy`, which has neither `--path-mappings` nor `--workspace-issuer-allow`. */
const OWN = {
  "mapping-file": "text",
  "path-mappings": "switch",
  "root-kubeconfig": "text",
  "shards-kubeconfig": "text",
  "authentication-pass-on-groups": "list",
  "authentication-drop-groups": "list",
  "token-auth-file": "text",
  "authentication-config": "text",
  "feature-gates": "list",
  "workspace-issuer-allow": "list",
  "oidc-issuer-url": "text",
  "oidc-client-id": "text",
  "oidc-ca-file": "text",
  "oidc-username-claim": "text",
  "oidc-username-prefix": "text",
  "oidc-groups-claim": "text",
  "oidc-groups-prefix": "text",
  "oidc-required-claim": "list",
  "shutdown-delay-duration": "text",
} as const;

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

/** The flags of kcp's front proxy. What else it is given it refuses, and so do we. */
export const FRONT_PROXY: FlagTable & { readonly taken: typeof TAKEN_BY_ALL & typeof OWN } = {
  taken: { ...TAKEN_BY_ALL, ...OWN },
  ignored: IGNORED,
  refused: REFUSED,
  others: "refused",
  words: "name the mapping file with --mapping-file",
};
