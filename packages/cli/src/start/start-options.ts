import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Audit } from "@virtual-workspaces/framework/audit";
import type { AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import type { TlsCertificate } from "@virtual-workspaces/framework/tls";
import type { PlainUser, WorkspaceServerOptions } from "@virtual-workspaces/workspace-server";
import { readFlags } from "../flags/read.ts";
import { ETCD_FLAGS } from "../flags/servers.ts";
import { Failure, UsageError } from "../process/failure.ts";
import { certificateOf, contentOf } from "../process/files.ts";
import { logOf, type StartLog } from "../process/log.ts";
import { auditOf } from "../server/audit.ts";
import { type Authentication, authenticationOf } from "../server/authentication.ts";
import { type AuthorizationChoice, authorizationOf } from "../server/authorization.ts";
import { componentOf } from "../server/component.ts";
import { type ConsoleChoice, consoleChoice } from "../server/console.ts";
import { gatesOf } from "../server/gates.ts";
import { authenticationFailuresOf, corsAllowedOriginsOf } from "../server/listening.ts";
import { issuerHosts } from "../server/logins.ts";
import { listed as listOf, type StoreChoice, storeChoice } from "../server/store-choice.ts";
import { shardNames } from "../server/urls.ts";
import { DEMO_USERS } from "./demo/names.ts";
import { type Endpoint, endpointOf } from "./endpoint.ts";
import { type EnabledFeature, enabledFeatures, OTHER_BATTERIES } from "./feature-flags.ts";
import { type ListedFeature, startFeatures } from "./features.ts";
import { type StartFlags, startLine } from "./flags.ts";

/** Options of `start`. Paths are absolute. */
export interface StartOptions extends StartLog {
  readonly rootDirectory: string;
  /** Folder of `apiserver.crt`. */
  readonly certDir: string;
  readonly kubeconfig: string;
  readonly tokenStore: string;
  /** Whether the kubeconfig stays valid across restarts. */
  readonly keepKubeconfig: boolean;
  /** Whether to create administrators. */
  readonly admin: boolean;
  /** Users without rights, from batteries. */
  readonly users: readonly PlainUser[];
  /** Whether to create and show the tree of the demonstration. */
  readonly demo: boolean;
  readonly place: Endpoint;
  /** Groups whose members get home workspaces, or `false`. @default all authenticated users */
  readonly homeWorkspaces: WorkspaceServerOptions["homeWorkspaces"] | undefined;
  /** Certificate of the server. @default a new one in `certDir` */
  readonly tls: TlsCertificate | undefined;
  readonly authentication: Authentication;
  /** @default kcp's order without a webhook */
  readonly authorization: AuthorizationChoice | undefined;
  readonly serviceAccounts: ServiceAccountOptions;
  /** Certificate authorities for clients in the workspaces, PEM. @default that of the server */
  readonly rootCa: string | undefined;
  /** Store of `root`; further shards have theirs beside it. */
  readonly store: StoreChoice;
  /** Enabled features in the order of the list. */
  readonly features: readonly EnabledFeature[];
  /** Names of the fixed shards besides `root`. */
  readonly shards: readonly string[];
  /** Limit in each workspace; 0 for none. */
  readonly totalObjectLimit: number;
  /** Whether APIExports publish URLs in their own status. @default true */
  readonly exportURLs: boolean | undefined;
  /** Restricted hosts that may be issuers of workspace types. @default workspace types have no issuers */
  readonly issuerHosts: readonly string[] | undefined;
  /** Whether views may store resources of exports. */
  readonly virtualStorage: boolean;
  /** Whether ClusterCachedResources have controllers. */
  readonly cachedResources: boolean;
  /** Pages about the process. */
  readonly component: NonNullable<WorkspaceServerOptions["component"]>;
  readonly audit: Audit | undefined;
  /** Limits on authentication failures for each address. @default those of the server */
  readonly authenticationFailures: AuthenticationFailureLimits | undefined;
  /** Origins of browser pages that may use the server. */
  readonly corsAllowedOrigins: readonly string[];
  /** @default no console */
  readonly console: ConsoleChoice | undefined;
  /** Delay of the shutdown, ms. */
  readonly closeDelay: number;
  /** Whether progress is not printed: it would stand between the lines of a JSON log. */
  readonly quiet: boolean;
  /** Warnings for the log. */
  readonly warnings: readonly string[];
}

/** Options for the tokens of service accounts. */
export interface ServiceAccountOptions {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  /** URL of the keys. @default a path in each workspace */
  readonly keysUrl: string | undefined;
  /** File of the private key; created if it does not exist. */
  readonly keyFile: string;
  /** PEM of further keys that have signed tokens. */
  readonly verification: readonly string[];
}

/** Flags that need an external etcd. */
const OF_ETCD = (Object.keys(ETCD_FLAGS) as (keyof typeof ETCD_FLAGS)[]).filter((name) => name !== "etcd-servers");

/**
 * Reads the flags and the files that they name, without side effects.
 *
 * @param listed all features
 * @throws UsageError, Failure on conflicting features
 */
export function startOptions(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  listed: readonly ListedFeature[] = startFeatures(),
): StartOptions {
  const line = startLine(listed);
  const { values: flags, warnings } = readFlags(args, line);
  const logging = logOf(flags);
  const rootDirectory = flags["root-directory"];
  const batteries = batteriesOf(flags, batteryNames(listed));
  const { audit, warning } = auditOf(flags);
  const warned: string[] = [];
  const warn = (message: string): void => void warned.push(message);
  const features = enabledFeatures(listed, { values: flags, batteries, warn });
  const gates = gatesOf(flags);
  return {
    ...logging,
    rootDirectory,
    quiet: flags.quiet === true || flags["logging-format"] === "json",
    certDir: flags["cert-dir"] ?? rootDirectory,
    kubeconfig: flags["kubeconfig-path"] ?? join(rootDirectory, "admin.kubeconfig"),
    tokenStore: flags["authentication-admin-token-path"] ?? join(rootDirectory, ".admin-token-store"),
    keepKubeconfig: flags["keep-kubeconfig"] ?? false,
    admin: batteries.has("admin"),
    users: usersOf(batteries),
    demo: batteries.has("demo"),
    place: endpointOf(flags),
    homeWorkspaces: homesOf(flags),
    tls: certificateOf(flags, "tls-cert-file", "tls-private-key-file"),
    authentication: authenticationOf(flags, logging.log),
    authorization: authorizationOf(flags),
    serviceAccounts: serviceAccountsOf(flags, rootDirectory),
    rootCa: flags["root-ca-file"] && contentOf(flags["root-ca-file"], "root-ca-file"),
    store: storeOf(flags, { rootDirectory, env }),
    features,
    shards: shardNames(flags),
    totalObjectLimit: flags["logical-cluster-total-object-limit"],
    audit,
    authenticationFailures: authenticationFailuresOf(flags),
    corsAllowedOrigins: corsAllowedOriginsOf(flags),
    console: consoleChoice(flags),
    closeDelay: flags["shutdown-delay-duration"],
    exportURLs: gates.exportURLs,
    virtualStorage: gates.virtualStorage,
    cachedResources: gates.cachedResources,
    component: componentOf("virtual-workspaces-start", { flags: line.flags, values: flags }, gates),
    issuerHosts: issuerHosts(flags, gates),
    warnings: [...[...warnings, ...warned], ...(warning === undefined ? [] : [warning]), ...gates.warnings],
  };
}

function homesOf(flags: StartFlags): StartOptions["homeWorkspaces"] {
  if (!flags["enable-home-workspaces"]) return false;
  const name = "home-workspaces-home-creator-groups";
  return flags[name] && { creatorGroups: flags[name] };
}

function serviceAccountsOf(flags: StartFlags, rootDirectory: string): ServiceAccountOptions {
  const signing = flags["service-account-signing-key-file"];
  const own = flags["service-account-private-key-file"];
  // One key signs all tokens here, so the two flags must not name different ones.
  if (signing !== undefined && own !== undefined && signing !== own)
    throw new UsageError(
      "--service-account-signing-key-file and --service-account-private-key-file name two keys, but only one signs tokens: add the other with --service-account-key-file",
    );
  const named = signing ?? own;
  const flag = signing === undefined ? "service-account-private-key-file" : "service-account-signing-key-file";
  if (named !== undefined) contentOf(named, flag);
  return {
    issuers: flags["service-account-issuer"] ?? [],
    keysUrl: keysUrlOf(flags),
    audiences: flags["api-audiences"] ?? [],
    keyFile: named ?? join(rootDirectory, "sa.key"),
    verification: (flags["service-account-key-file"] ?? []).map((file) =>
      contentOf(resolve(file), "service-account-key-file"),
    ),
  };
}

function keysUrlOf(flags: StartFlags): string | undefined {
  const url = flags["service-account-jwks-uri"];
  if (url === undefined || (URL.canParse(url) && new URL(url).protocol === "https:")) return url;
  throw new UsageError(`invalid value "${url}" for --service-account-jwks-uri: use an https URL`);
}

function storeOf(
  flags: StartFlags,
  { rootDirectory, env }: { readonly rootDirectory: string; readonly env: NodeJS.ProcessEnv },
): StoreChoice {
  const servers = listOf(flags["etcd-servers"]);
  const embedded = servers.length === 0 || servers.join() === "embedded";
  if (!embedded && servers.includes("embedded"))
    throw new UsageError('invalid value for --etcd-servers: use "embedded", or the members of an etcd, not both');
  const folder = flags["embedded-etcd-directory"];
  if (!embedded && folder !== undefined)
    throw new UsageError("--embedded-etcd-directory and --etcd-servers both select a store: use only one");
  refuseForeign(rootDirectory);
  if (!embedded) return storeChoice({ ...flags, "etcd-servers": servers }, env);
  const needless = OF_ETCD.find((name) => flags[name] !== undefined);
  if (needless !== undefined) throw new UsageError(`--${needless} needs --etcd-servers: set both`);
  return storeChoice({ "data-dir": folder ?? join(rootDirectory, "data") }, env);
}

/** Rejects the data of kcp: this server would start empty beside it. */
function refuseForeign(rootDirectory: string): void {
  const theirs = join(rootDirectory, "etcd-server", "member");
  if (existsSync(theirs))
    throw new Failure(
      `${rootDirectory} contains the data of a kcp, which this server cannot read: set another folder with --root-directory`,
    );
}

const DEFAULT_BATTERIES: readonly string[] = ["admin", "workspace-types"];

/** Returns kcp's batteries, those of the command, and features. */
function batteryNames(listed: readonly ListedFeature[]): readonly string[] {
  const features = listed.flatMap(({ feature: { name }, battery }) => (battery === undefined ? [] : [name]));
  const others = [...OTHER_BATTERIES, ...features].filter((name) => !DEFAULT_BATTERIES.includes(name));
  return [...DEFAULT_BATTERIES, ...others.sort()];
}

/** Reads `--batteries-included`: `+x` and `-x` change the default, a plain `x` replaces it. */
function batteriesOf(flags: StartFlags, names: readonly string[]): ReadonlySet<string> {
  const given = flags["batteries-included"] ?? [];
  const relative = given.filter((name) => /^[+-]/.test(name));
  if (relative.length > 0 && relative.length < given.length)
    throw new UsageError("invalid value for --batteries-included: use + or - before all names, or before none");
  const unknown = given.map((name) => name.replace(/^[+-]/, "")).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--batteries-included: unknown battery: ${unknown}. The batteries are ${names.join(", ")}`);
  const plain = flags["batteries-included"] !== undefined && relative.length === 0;
  const all = new Set(plain ? given : DEFAULT_BATTERIES);
  for (const name of relative) {
    if (name.startsWith("+")) all.add(name.slice(1));
    else all.delete(name.slice(1));
  }
  const without = ["user", "demo"].find((name) => all.has(name) && !all.has("admin"));
  if (without !== undefined)
    throw new UsageError(`--batteries-included: battery ${without} enabled which requires admin as well`);
  if (all.has("metrics-viewer"))
    throw new UsageError("--batteries-included: metrics-viewer is not implemented: remove it");
  if (!all.has("workspace-types"))
    throw new UsageError("--batteries-included: workspace types always exist: add workspace-types");
  return all;
}

/** Returns the users of batteries, besides administrators. */
function usersOf(batteries: ReadonlySet<string>): readonly PlainUser[] {
  return [
    ...(batteries.has("user") ? [{ name: "user", workspace: "root" }] : []),
    ...(batteries.has("demo") ? DEMO_USERS : []),
  ];
}
