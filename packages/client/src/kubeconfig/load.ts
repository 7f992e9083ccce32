import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { splitCluster } from "../http/cluster-url.ts";
import type { KubeconfigOptions, LoadedKubeconfig } from "./config.ts";
import { booleanIn, type Config, type ConfigEntry, KubeconfigError, mergedConfig, stringIn } from "./config.ts";
import { UserCredentials } from "./credentials.ts";
import { kubeconfigs, pemOf } from "./files.ts";
import { impersonationOf, tokenFile, userCredentials } from "./user.ts";

/**
 * What a kubeconfig says, as `new Client` takes it: `new Client(await loadKubeconfig())`. Read as `kubectl` reads it: several
 * files in `KUBECONFIG` are merged, the first that has an entry counts; without any file it is the pod that this runs in.
 * Tokens, certificates and service accounts in files are read again when they change; plugins (`exec`) are run when they are
 * needed, with the rights of this process: load nobody's file whose programs you would not run. YAML is read, and
 * `auth-provider` served, by `@kubernetes/client-node`, which is loaded for that and for nothing else.
 *
 * @throws Error on what cannot be used, with file, entry, field and remedy, and without any value that could be secret
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
    const where = files.length === 0 ? "there is no kubeconfig" : files.map(({ file }) => file).join(", ");
    throw new KubeconfigError(
      `${where}: no current context: set KUBECONFIG, or current-context in it, or give context`,
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

function contextOf({ contexts }: Config, name: string): ConfigEntry {
  if (name === "") return NOTHING;
  const context = contexts.get(name);
  if (context !== undefined) return context;
  throw new KubeconfigError(
    `context ${JSON.stringify(name)} does not exist: there are ${[...contexts.keys()].join(", ") || "none"}`,
  );
}

/** The entry that a context names. A user may be left out: nobody; a cluster too where one is given. */
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
      ? `${context.at}.${field}: name one`
      : `${context.at}.${field}: there is no ${field} ${JSON.stringify(name)}`,
  );
}

async function upstreamOf(cluster: ConfigEntry): Promise<UpstreamOptions> {
  const { value, at } = cluster;
  const url = stringIn(value, "server", at);
  if (url === "") throw new KubeconfigError(`${at}.server: give the URL of the API server`);
  // As kubectl has it, a bare host is one by HTTP.
  const full = url.includes("://") ? url : `http://${url}`;
  const problem = urlProblem(full);
  if (problem !== undefined) throw new KubeconfigError(`${at}.server: ${problem}`);
  if (stringIn(value, "proxy-url", at) !== "")
    throw new KubeconfigError(
      `${at}.proxy-url: proxies are not supported: reach the server directly, or by a tunnel to it`,
    );
  const ca = await pemOf(cluster, "certificate-authority");
  const insecureSkipVerify = booleanIn(value, "insecure-skip-tls-verify", at);
  if (ca !== "" && insecureSkipVerify)
    throw new KubeconfigError(
      `${at}: certificate-authority and insecure-skip-tls-verify are both given: leave one out`,
    );
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
  if (!URL.canParse(text)) return "it is no URL";
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return "give an http or https URL";
  if (username !== "" || password !== "")
    return "credentials do not belong in it: give username and password of the user";
  return search === "" && hash === "" ? undefined : "leave out its query and fragment";
}

/** Fields that say one thing in several ways: who overrides one of them overrides all (clientcmd's `getAuthInfo`, `getCluster`). */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"],
  ["client-certificate", "client-certificate-data"],
  ["client-key", "client-key-data"],
  ["token", "tokenFile"],
];

/** What is used where a kubeconfig names nothing. */
const NOTHING: ConfigEntry = { at: "the flags", file: "", value: {} };

/** An entry with what counts instead of its own fields. */
function overridden(entry: ConfigEntry, fields: JsonObject = {}): ConfigEntry {
  const given = Object.keys(fields);
  if (given.length === 0) return entry;
  const replaced = ALTERNATIVES.filter((names) => names.some((name) => given.includes(name))).flat();
  const kept = Object.entries(entry.value).filter(([name]) => !replaced.includes(name));
  return { ...entry, value: { ...Object.fromEntries(kept), ...fields } };
}

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Who a pod is to its cluster; `undefined` where this is none. @throws KubeconfigError on a token that cannot be read, when it is needed */
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
