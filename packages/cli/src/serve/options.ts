import { resolve } from "node:path";
import type { Authenticator, Log } from "@virtual-workspaces/framework";
import { authenticationOf } from "../start/authentication.ts";
import { contentOf } from "../start/files.ts";
import { Flags } from "../start/flags.ts";
import { viewPaths } from "../start/services.ts";
import { STORE_FLAGS, type StoreChoice, storeChoice } from "../store/options.ts";
import { parse, UsageError } from "../usage.ts";

/** What `serve` is told. Paths are absolute. */
export interface ServeOptions {
  readonly views: readonly string[];
  /** Of the workspaces. */
  readonly kubeconfig: string;
  readonly context: string | undefined;
  /** The shard whose workspaces these are. @default unknown */
  readonly shard: string | undefined;
  /** Of the workspaces of all shards. @default the same */
  readonly everywhere: string | undefined;
  /** Of whom tokens are asked about. @default the same */
  readonly authentication: string | undefined;
  readonly authenticators: readonly Authenticator[];
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly bindAddress: string;
  readonly port: number;
  readonly store: StoreChoice;
}

const AUTHENTICATION = {
  "client-ca-file": { type: "string" },
  "anonymous-auth": { type: "string" },
  "requestheader-client-ca-file": { type: "string" },
  "requestheader-allowed-names": { type: "string", multiple: true },
  "requestheader-username-headers": { type: "string", multiple: true },
  "requestheader-uid-headers": { type: "string", multiple: true },
  "requestheader-group-headers": { type: "string", multiple: true },
  "requestheader-extra-headers-prefix": { type: "string", multiple: true },
} as const;

/** kcp's own `virtual-workspaces` listens there. */
const DEFAULT_PORT = 6444;

/** Reads the flags and the files that they name; changes nothing. @throws UsageError */
export function serveOptions(args: readonly string[], env: NodeJS.ProcessEnv, log: Log): ServeOptions {
  const { values, positionals } = parse(args, {
    view: { type: "string", multiple: true },
    kubeconfig: { type: "string" },
    context: { type: "string" },
    "shard-name": { type: "string" },
    "external-logical-cluster-admin-kubeconfig": { type: "string" },
    "authentication-kubeconfig": { type: "string" },
    "authentication-skip-lookup": { type: "boolean" },
    "tls-cert-file": { type: "string" },
    "tls-private-key-file": { type: "string" },
    "bind-address": { type: "string" },
    "secure-port": { type: "string" },
    ...AUTHENTICATION,
    ...STORE_FLAGS,
  });
  if (positionals.length > 0) throw new UsageError(`${positionals[0]}: name files of views with --view`);
  const { view = [], kubeconfig, context, "authentication-kubeconfig": authentication } = values;
  if (view.length === 0) throw new UsageError("--view is missing: name a file with a view");
  if (kubeconfig === undefined)
    throw new UsageError("--kubeconfig is missing: name that of an administrator of the workspaces, with --context");
  const everywhere = values["external-logical-cluster-admin-kubeconfig"];
  const { "tls-cert-file": cert, "tls-private-key-file": key } = values;
  if (cert === undefined || key === undefined)
    throw new UsageError("--tls-cert-file and --tls-private-key-file are missing: by these clients trust the server");
  const given = Object.keys(AUTHENTICATION).flatMap((name) => {
    const value = values[name as keyof typeof AUTHENTICATION];
    return value === undefined ? [] : [[name, [value].flat()] as const];
  });
  const tls = { certFile: resolve(cert), keyFile: resolve(key) };
  contentOf(tls.certFile, "tls-cert-file");
  contentOf(tls.keyFile, "tls-private-key-file");
  return {
    views: viewPaths(view),
    kubeconfig: resolve(kubeconfig),
    context,
    shard: values["shard-name"],
    everywhere: everywhere === undefined ? undefined : resolve(everywhere),
    authentication: authentication === undefined ? undefined : resolve(authentication),
    authenticators: authenticationOf(new Flags(new Map(given), []), log).authenticators,
    tls,
    bindAddress: values["bind-address"] ?? "0.0.0.0",
    port: portOf(values["secure-port"]),
    store: storeChoice(values, env),
  };
}

function portOf(text = String(DEFAULT_PORT)): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--secure-port ${text}: give a number from 1 to 65535, or 0 for any free port`);
}
