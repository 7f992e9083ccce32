import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { parse } from "yaml";
import type { TargetCredential } from "./target.ts";

/** What a kubeconfig in a Secret says. */
export interface SecretKubeconfig {
  readonly server: string;
  readonly ca?: string;
  readonly serverName?: string;
  /** None: it names nobody. */
  readonly credential?: TargetCredential;
}

/** What is wrong with something in a Secret: it names the key, the field and the remedy, and no value. */
export class SecretFault extends Error {}

/** The longest that is read, characters: hostile YAML takes time. */
const LONGEST = 64 * 1024;
/** What would run programs, read files or reach past the checks of the target, here. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  cluster: ["certificate-authority", "insecure-skip-tls-verify", "proxy-url"],
  user: ["exec", "auth-provider", "tokenFile", "client-certificate", "client-key", "as", "as-uid", "as-groups"],
};

/**
 * What the current context of a kubeconfig says that somebody has put into a Secret. It is a stranger's: nothing in it is run, and
 * no file of this machine is read.
 *
 * @throws SecretFault
 */
export function secretKubeconfig(text: string): SecretKubeconfig {
  const config = parsed(text);
  const context = named(config, "contexts", stringField(config, "current-context", "kubeconfig"));
  const cluster = named(config, "clusters", stringField(context, "cluster", "context"));
  const userName = stringField(context, "user", "context");
  const user = userName === "" ? {} : named(config, "users", userName);
  refuse(cluster, "cluster");
  refuse(user, "user");
  const server = stringField(cluster, "server", "cluster");
  if (server === "") throw new SecretFault("kubeconfig: the cluster has no server: give its URL");
  const ca = pemOf(cluster, "certificate-authority-data");
  const serverName = stringField(cluster, "tls-server-name", "cluster");
  const credential = credentialOf(user);
  return {
    server,
    ...(ca !== "" && { ca }),
    ...(serverName !== "" && { serverName }),
    ...(credential && { credential }),
  };
}

function parsed(text: string): JsonObject {
  if (text.length > LONGEST) throw new SecretFault(`kubeconfig: it is longer than ${LONGEST} characters`);
  let value: unknown;
  try {
    value = text.trimStart().startsWith("{")
      ? JSON.parse(text)
      : parse(text, { maxAliasCount: 0, uniqueKeys: false, logLevel: "error", prettyErrors: false });
  } catch {
    throw new SecretFault("kubeconfig: it is neither YAML nor JSON");
  }
  if (!isJsonObject(value)) throw new SecretFault("kubeconfig: it is none, which begins with kind: Config");
  return value;
}

function named(config: JsonObject, list: "clusters" | "contexts" | "users", name: string): JsonObject {
  const entries = memberOf(config, list);
  const found = Array.isArray(entries)
    ? entries.filter(isJsonObject).find((entry) => memberOf(entry, "name") === name)
    : undefined;
  const value = found === undefined ? undefined : memberOf(found, list.slice(0, -1));
  if (name === "" || !isJsonObject(value))
    throw new SecretFault(`kubeconfig: there is no entry in ${list} for the current context: write it with --minify`);
  return value;
}

function refuse(entry: JsonObject, what: "cluster" | "user"): void {
  for (const field of REFUSED[what] ?? []) {
    const value = memberOf(entry, field) ?? false;
    if (value !== false && value !== "")
      throw new SecretFault(
        `kubeconfig: ${field} of the ${what} is not taken from a Secret: leave it out, --flatten it`,
      );
  }
}

function credentialOf(user: JsonObject): TargetCredential | undefined {
  const token = stringField(user, "token", "user");
  const [name, password] = [stringField(user, "username", "user"), stringField(user, "password", "user")];
  const [cert, key] = [pemOf(user, "client-certificate-data"), pemOf(user, "client-key-data")];
  if ((cert === "") !== (key === ""))
    throw new SecretFault("kubeconfig: client-certificate-data and client-key-data go together: give both");
  if (token === "" && name === "" && cert === "") return undefined;
  return {
    ...(token !== "" && { token }),
    ...(token === "" && name !== "" && { basic: `${name}:${password}` }),
    ...(cert !== "" && { cert, key }),
  };
}

function pemOf(entry: JsonObject, field: string): string {
  const data = stringField(entry, field, "entry");
  const pem = Buffer.from(data, "base64").toString("utf8");
  if (data !== "" && !pem.includes("-----BEGIN ")) throw new SecretFault(`kubeconfig: ${field} is no base64 of PEM`);
  return pem;
}

function stringField(object: JsonObject, field: string, at: string): string {
  const value = memberOf(object, field) ?? "";
  if (typeof value !== "string") throw new SecretFault(`kubeconfig: ${field} of the ${at} must be a text`);
  return value;
}
