import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import { parse } from "yaml";
import type { TargetCredential } from "./target.ts";

/** Content of a kubeconfig in a Secret. */
export interface SecretKubeconfig {
  readonly server: string;
  readonly ca?: string;
  readonly serverName?: string;
  /** Missing if the context has no user. */
  readonly credential?: TargetCredential;
}

/** Problem in a Secret. The message names the key, the field and the remedy, and never a value. */
export class SecretFault extends Error {}

/** Maximum length in characters, since hostile YAML takes time. */
const LONGEST = 64 * 1024;
/** Fields that would run programs, read files or bypass the checks of the target. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  cluster: ["certificate-authority", "insecure-skip-tls-verify", "proxy-url"],
  user: ["exec", "auth-provider", "tokenFile", "client-certificate", "client-key", "as", "as-uid", "as-groups"],
};

/**
 * Reads the current context of a kubeconfig from a Secret. Security: its author is not trusted, so the server runs no program and
 * reads no file that it names.
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
  if (server === "") throw new SecretFault("kubeconfig: the cluster has no server: set its URL");
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
  if (text.length > LONGEST)
    throw new SecretFault(`kubeconfig: it is longer than ${LONGEST} characters: write it with --minify`);
  let value: unknown;
  try {
    value = text.trimStart().startsWith("{")
      ? JSON.parse(text)
      : parse(text, { maxAliasCount: 0, uniqueKeys: false, logLevel: "error", prettyErrors: false });
  } catch {
    throw new SecretFault("kubeconfig: it is neither YAML nor JSON: write it with kubectl config view");
  }
  if (!isJsonObject(value)) throw new SecretFault("kubeconfig: it is not an object: begin it with kind: Config");
  return value;
}

function named(config: JsonObject, list: "clusters" | "contexts" | "users", name: string): JsonObject {
  const entries = memberOf(config, list);
  const found = Array.isArray(entries)
    ? entries.filter(isJsonObject).find((entry) => memberOf(entry, "name") === name)
    : undefined;
  const value = found === undefined ? undefined : memberOf(found, list.slice(0, -1));
  if (name === "" || !isJsonObject(value))
    throw new SecretFault(`kubeconfig: no entry in ${list} for the current context: write it with --minify`);
  return value;
}

function refuse(entry: JsonObject, what: "cluster" | "user"): void {
  for (const field of REFUSED[what] ?? []) {
    const value = memberOf(entry, field) ?? false;
    if (value !== false && value !== "")
      throw new SecretFault(
        `kubeconfig: ${field} of the ${what} is not allowed in a Secret: remove it, or use --flatten`,
      );
  }
}

function credentialOf(user: JsonObject): TargetCredential | undefined {
  const token = stringField(user, "token", "user");
  const [name, password] = [stringField(user, "username", "user"), stringField(user, "password", "user")];
  const [cert, key] = [pemOf(user, "client-certificate-data"), pemOf(user, "client-key-data")];
  if ((cert === "") !== (key === ""))
    throw new SecretFault("kubeconfig: client-certificate-data and client-key-data go together: set both");
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
  if (data !== "" && !pem.includes("-----BEGIN "))
    throw new SecretFault(`kubeconfig: invalid ${field}: use PEM in base64`);
  return pem;
}

function stringField(object: JsonObject, field: string, at: string): string {
  const value = memberOf(object, field) ?? "";
  if (typeof value !== "string") throw new SecretFault(`kubeconfig: ${field} of the ${at} must be a string`);
  return value;
}
