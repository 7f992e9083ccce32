import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Audit } from "@virtual-workspaces/framework/audit";
import type { AuthenticationFailureLimits, Component } from "@virtual-workspaces/framework/server";
import { flagDuration, readFlags } from "../flags/read.ts";
import { UsageError } from "../process/failure.ts";
import { contentOf } from "../process/files.ts";
import { logOf, type StartLog } from "../process/log.ts";
import { auditOf } from "../server/audit.ts";
import { type Authentication, authenticationOf } from "../server/authentication.ts";
import { componentOf } from "../server/component.ts";
import { gatesOf } from "../server/gates.ts";
import { addressOf, authenticationFailuresOf, corsAllowedOriginsOf } from "../server/listening.ts";
import { type StoreChoice, storeChoice } from "../server/store-choice.ts";
import type { ForwardedTo } from "../server/upstreams.ts";
import { urlOf } from "../server/urls.ts";
import { viewPaths } from "../views/view-files.ts";
import { SERVE, type ServeFlags } from "./flags.ts";
import { type GroupOptions, groupOf } from "./workers/group-options.ts";

/** Options of `serve`. Paths are absolute. */
export interface ServeOptions extends StartLog {
  /** Files of views besides kcp's own. */
  readonly views: readonly string[];
  /** Whether to serve kcp's own views, which need a user in `system:masters`. */
  readonly kcpViews: boolean;
  /** Whether the view of cached resources is among kcp's own. */
  readonly cachedResources: boolean;
  readonly kubeconfigs: Kubeconfigs;
  /** Name of the shard that has the workspaces. @default unknown */
  readonly shard: string | undefined;
  readonly authentication: Authentication;
  /** Time to cache results of token reviews, ms. @default that of the authenticator */
  readonly tokenCache: number | undefined;
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  readonly bindAddress: string;
  readonly port: number;
  /** Server with those of kcp's views that this one lacks. @default none: 404 */
  readonly fallback: ForwardedTo | undefined;
  readonly store: StoreChoice;
  /** Processes that serve. */
  readonly group: GroupOptions;
  readonly audit: Audit | undefined;
  /** Pages about the process. */
  readonly component: Omit<Component, "authorize">;
  /** Groups that may read `/metrics`, besides `system:masters`. */
  readonly metricsGroups: readonly string[];
  /** Time to keep serving after `/readyz` starts to fail, ms. */
  readonly closeDelay: number;
  /** Limits on authentication failures for each address. @default those of the server */
  readonly authenticationFailures: AuthenticationFailureLimits | undefined;
  /** Origins of browser pages that may use the server. */
  readonly corsAllowedOrigins: readonly string[];
  /** Warnings for the log. */
  readonly warnings: readonly string[];
}

/** Kubeconfigs of the upstream servers. */
export interface Kubeconfigs {
  /** Server with the workspaces of one shard. */
  readonly workspaces: string;
  /** Context in that kubeconfig. @default the current one */
  readonly context: string | undefined;
  /** kcp's cache server. @default the shard */
  readonly cache: string | undefined;
  /** Server with the workspaces of all shards. @default the shard */
  readonly everywhere: string | undefined;
  /** Server that reviews tokens. @default the shard */
  readonly authentication: string | undefined;
}

/** Default files of kcp's own `virtual-workspaces`. */
const DEFAULT_TLS = { cert: ".kcp/apiserver.crt", key: ".kcp/apiserver.key" };
/** One day, ms. */
const LONGEST_CACHE = 86_400_000;

/** Reads the flags and the files that they name, without side effects. @throws UsageError */
export function serveOptions(args: readonly string[], env: NodeJS.ProcessEnv): ServeOptions {
  const { values: flags, warnings } = readFlags(args, SERVE);
  const logging = logOf(flags);
  const { audit, warning } = auditOf(flags);
  const views = viewPaths(flags.view ?? []);
  const group = groupOf(flags);
  if (group.workers > 1 && audit !== undefined && flags["audit-log-path"] !== "-")
    throw new UsageError(
      "--audit-log-path works with a file for a single process only: with --workers or --peers, use -",
    );
  const kcpViews = flags["kcp-views"];
  const gates = gatesOf(flags);
  if (!kcpViews && views.length === 0)
    throw new UsageError("--kcp-views=false leaves no view: name files of views with --view");
  return {
    ...logging,
    views,
    kcpViews,
    cachedResources: gates.cachedResources,
    component: componentOf("virtual-workspaces-serve", { flags: SERVE.flags, values: flags }, gates),
    kubeconfigs: kubeconfigsOf(flags),
    shard: flags["shard-name"],
    authentication: authenticationOf(flags, logging.log, { strict: true }),
    tokenCache: tokenCacheOf(flags),
    tls: tlsOf(flags),
    bindAddress: addressOf(flags),
    port: flags["secure-port"],
    fallback: fallbackOf(flags),
    store: storeOf(flags, env),
    group,
    audit,
    metricsGroups: flags["metrics-allow-groups"] ?? [],
    closeDelay: flags["shutdown-delay-duration"],
    authenticationFailures: authenticationFailuresOf(flags),
    corsAllowedOrigins: corsAllowedOriginsOf(flags),
    warnings: [...warnings, ...(warning === undefined ? [] : [warning]), ...gates.warnings],
  };
}

function kubeconfigsOf(flags: ServeFlags): Kubeconfigs {
  const workspaces = kubeconfigOf(flags, "kubeconfig");
  if (workspaces === undefined)
    throw new UsageError(
      "--kubeconfig is required: set it, and --context, to a user of the server with the workspaces",
    );
  return {
    workspaces,
    context: flags.context,
    cache: kubeconfigOf(flags, "cache-kubeconfig"),
    everywhere: kubeconfigOf(flags, "external-logical-cluster-admin-kubeconfig"),
    authentication: kubeconfigOf(flags, "authentication-kubeconfig"),
  };
}

type KubeconfigFlag = Extract<keyof ServeFlags, `${string}kubeconfig`>;

function kubeconfigOf(flags: ServeFlags, name: KubeconfigFlag): string | undefined {
  const path = flags[name];
  if (path !== undefined) contentOf(path, name);
  return path;
}

function tlsOf(flags: ServeFlags): ServeOptions["tls"] {
  const given = { cert: flags["tls-cert-file"], key: flags["tls-private-key-file"] };
  const none = given.cert === undefined && given.key === undefined;
  const { cert, key } = none && existsSync(DEFAULT_TLS.cert) ? DEFAULT_TLS : given;
  if (cert === undefined || key === undefined)
    throw new UsageError(
      "--tls-cert-file and --tls-private-key-file are required: set them to the server's certificate and key",
    );
  const tls = { certFile: resolve(cert), keyFile: resolve(key) };
  contentOf(tls.certFile, "tls-cert-file");
  contentOf(tls.keyFile, "tls-private-key-file");
  return tls;
}

function tokenCacheOf(flags: ServeFlags): number | undefined {
  const name = "authentication-token-webhook-cache-ttl";
  if (flags[name] === undefined) return undefined;
  const cache = flagDuration(flags[name]);
  if (cache === undefined)
    throw new UsageError(`invalid value "${flags[name]}" for --${name}: use a duration such as 30s, 1m30s or 500ms`);
  if (Number.isSafeInteger(cache) && cache <= LONGEST_CACHE) return cache;
  throw new UsageError(
    `invalid value "${flags[name]}" for --${name}: use a duration of at most one day, in whole milliseconds`,
  );
}

function storeOf(flags: ServeFlags, env: NodeJS.ProcessEnv): StoreChoice {
  return storeChoice(flags, env);
}

const FALLBACK_FILES = ["fallback-ca-file", "fallback-client-cert-file", "fallback-client-key-file"] as const;

/** Returns the server for those of kcp's views that this one lacks. @throws UsageError */
function fallbackOf(flags: ServeFlags): ForwardedTo | undefined {
  const url = urlOf(flags, "fallback-url");
  const [ca, certFile, keyFile] = FALLBACK_FILES.map((name) => flags[name]);
  if (url === undefined && FALLBACK_FILES.filter((name) => flags[name] !== undefined).length === 0) return undefined;
  if (url === undefined || ca === undefined || certFile === undefined || keyFile === undefined)
    throw new UsageError(
      `${["fallback-url", ...FALLBACK_FILES].map((name) => `--${name}`).join(", ")} must be set together`,
    );
  contentOf(certFile, FALLBACK_FILES[1]);
  contentOf(keyFile, FALLBACK_FILES[2]);
  return { url, ca: contentOf(ca, FALLBACK_FILES[0]), certFile, keyFile };
}
