import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { splitCluster } from "../http/cluster-url.ts";
import type { KubeconfigOptions, LoadedKubeconfig } from "./config.ts";
import { booleanIn, type Config, type ConfigEntry, KubeconfigError, mergedConfig, stringIn } from "./config.ts";
import { UserCredentials } from "./credentials.ts";
import { kubeconfigPaths, kubeconfigs, pemOf } from "./files.ts";
import { impersonationOf, tokenFile, userCredentials } from "./user.ts";

/**
 * Loads a kubeconfig for `new Client`: `new Client(await loadKubeconfig())`. It follows `kubectl`: files in `KUBECONFIG` are
 * merged, and the first one with an entry wins; without a file it uses the service account of the pod. Tokens, certificates
 * and service accounts in files are read again when they change. Security: credential plugins (`exec`) run with the rights of
 * this process, so load only files whose programs you trust. `@kubernetes/client-node` reads YAML and implements
 * `auth-provider`, and is loaded only for these.
 *
 * @throws Error for an invalid configuration, with file, entry, field and remedy, but never with a value that could be secret
 *
 * @example
 * ```ts
 * import { Client, loadKubeconfig } from "@virtual-workspaces/client";
 *
 * const config = await loadKubeconfig({ context: "staging" });
 * await using client = new Client(config);
 * console.log(config.upstream.url, config.namespace);
 * ```
 * @see docs/how-to/client.md
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<LoadedKubeconfig> {
  const files = options.contents ?? (await kubeconfigs(options));
  const config = mergedConfig(files);
  const { overrides = {} } = options;
  const name = options.context ?? config.currentContext;
  if (name === "" && overrides.cluster?.["server"] === undefined) {
    const pod = options.file === undefined ? await serviceAccount(options) : undefined;
    if (pod !== undefined) return pod;
    throw new KubeconfigError(
      noContext(
        files.map(({ file }) => file),
        options.env ?? process.env,
      ),
    );
  }
  const context = overridden(contextOf(config, name), overrides.context);
  const cluster = overridden(
    referred(config.clusters, context, { field: "cluster", given: overrides.cluster }),
    overrides.cluster,
  );
  const user = overridden(referred(config.users, context, { field: "user", given: {} }), overrides.user);
  const credentials = await userCredentials({ user, cluster, env: options.env ?? process.env });
  const place = splitCluster({ ...(await upstreamOf(cluster)), ...(credentials && { credentials }) });
  const impersonate = impersonationOf(user);
  return {
    upstream: place.upstream,
    ...(place.cluster !== "" && { cluster: place.cluster }),
    ...(impersonate && { impersonate }),
    context: name,
    namespace: stringIn(context.value, "namespace", context.at) || "default",
  };
}

/** Returns the message about a missing context. It names the files, also those that do not exist. */
function noContext(files: readonly string[], env: NonNullable<KubeconfigOptions["env"]>): string {
  if (files.length > 0)
    return `${files.join(", ")}: no current context: set current-context in the file, or the option context`;
  const paths = kubeconfigPaths(env);
  return `no kubeconfig found: ${paths.join(", ")} ${paths.length === 1 ? "does" : "do"} not exist: set KUBECONFIG to a file that exists`;
}

function contextOf({ contexts }: Config, name: string): ConfigEntry {
  if (name === "") return NOTHING;
  const context = contexts.get(name);
  if (context !== undefined) return context;
  throw new KubeconfigError(
    `context ${JSON.stringify(name)} does not exist: there are ${[...contexts.keys()].join(", ") || "none"}`,
  );
}

/** Returns the entry that a context names. A missing user means no credentials. The cluster may be missing if a server is given. */
function referred(
  entries: Config["clusters"],
  context: ConfigEntry,
  { field, given }: { readonly field: "cluster" | "user"; readonly given: JsonObject | undefined },
): ConfigEntry {
  const name = stringIn(context.value, field, context.at);
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  if (name === "" && given !== undefined) return { at: context.at, file: context.file, value: {} };
  throw new KubeconfigError(
    name === ""
      ? `${context.at}.${field} is empty: set a name`
      : `${context.at}.${field}: unknown ${field} ${JSON.stringify(name)}`,
  );
}

async function upstreamOf(cluster: ConfigEntry): Promise<UpstreamOptions> {
  const { value, at } = cluster;
  const url = stringIn(value, "server", at);
  if (url === "") throw new KubeconfigError(`${at}.server is empty: set the URL of the API server`);
  // Like kubectl, treat a bare host as HTTP.
  const full = url.includes("://") ? url : `http://${url}`;
  const problem = urlProblem(full);
  if (problem !== undefined) throw new KubeconfigError(`${at}.server: ${problem}`);
  if (stringIn(value, "proxy-url", at) !== "")
    throw new KubeconfigError(
      `${at}.proxy-url: proxies are not supported: connect to the server directly, or through a tunnel`,
    );
  const ca = await pemOf(cluster, "certificate-authority");
  const insecureSkipVerify = booleanIn(value, "insecure-skip-tls-verify", at);
  if (ca !== "" && insecureSkipVerify)
    throw new KubeconfigError(`${at}: certificate-authority and insecure-skip-tls-verify are both set: remove one`);
  const serverName = stringIn(value, "tls-server-name", at);
  return {
    url: full,
    tls: {
      ...(ca !== "" && { ca }),
      ...(serverName !== "" && { serverName }),
      ...(insecureSkipVerify && { insecureSkipVerify }),
    },
  };
}

function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return "not a URL: use one like https://host:6443";
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return "use an http or https URL";
  if (username !== "" || password !== "")
    return "remove the credentials: set username and password of the user instead";
  return search === "" && hash === "" ? undefined : "remove query and fragment";
}

/** Equivalent fields: an override of one of them replaces all (clientcmd's `getAuthInfo`, `getCluster`). */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"],
  ["client-certificate", "client-certificate-data"],
  ["client-key", "client-key-data"],
  ["token", "tokenFile"],
];

/** Default for a missing entry. */
const NOTHING: ConfigEntry = { at: "the flags", file: "", value: {} };

/** Returns an entry with the overrides applied. */
function overridden(entry: ConfigEntry, fields: JsonObject = {}): ConfigEntry {
  const given = Object.keys(fields);
  if (given.length === 0) return entry;
  const replaced = ALTERNATIVES.filter((names) => names.some((name) => given.includes(name))).flat();
  const kept = Object.entries(entry.value).filter(([name]) => !replaced.includes(name));
  return { ...entry, value: { ...Object.fromEntries(kept), ...fields } };
}

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Returns the configuration of a pod, or `undefined` outside a pod. @throws KubeconfigError on first use if the token is unreadable */
async function serviceAccount({
  env = process.env,
  serviceAccount: folder = FOLDER,
}: KubeconfigOptions): Promise<LoadedKubeconfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  if (host === "" || port === "") return undefined;
  const [ca, namespace, token] = await Promise.all(
    ["ca.crt", "namespace", "token"].map((name) => textIn(folder, name)),
  );
  if (token === undefined) return undefined;
  return {
    upstream: {
      url: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      tls: ca === undefined ? {} : { ca },
      credentials: new UserCredentials([tokenFile(join(folder, "token"), "service account")]),
    },
    context: "",
    namespace: namespace?.trim() || "default",
  };
}

async function textIn(folder: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, name), "utf8");
  } catch {
    return undefined;
  }
}
