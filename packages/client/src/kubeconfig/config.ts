import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import type { Impersonation } from "../http/impersonation.ts";

/** Cluster, user or context of a kubeconfig, with its place in the file. */
export interface ConfigEntry {
  /** Place for errors: `/home/ann/.kube/config: users[ann].user`. */
  readonly at: string;
  /** File of the entry. Relative paths start in its folder. */
  readonly file: string;
  readonly value: JsonObject;
}

/** Merged kubeconfigs. */
export interface Config {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, ConfigEntry>;
  readonly users: ReadonlyMap<string, ConfigEntry>;
  readonly contexts: ReadonlyMap<string, ConfigEntry>;
}

/** Error of a kubeconfig: the place, and what to do. Security: it never contains a value that could be secret. */
export class KubeconfigError extends Error {
  override readonly name: string = "KubeconfigError";
}

/** Merges as `kubectl` does: the first file with an entry, or with a current context, wins. Entries are not merged with each other. */
export function mergedConfig(files: readonly { readonly file: string; readonly content: JsonObject }[]): Config {
  const clusters = new Map<string, ConfigEntry>();
  const users = new Map<string, ConfigEntry>();
  const contexts = new Map<string, ConfigEntry>();
  let currentContext = "";
  for (const { file, content } of files) {
    if (currentContext === "") currentContext = stringIn(content, "current-context", file);
    addEntries(clusters, { file, content, list: "clusters", field: "cluster" });
    addEntries(users, { file, content, list: "users", field: "user" });
    addEntries(contexts, { file, content, list: "contexts", field: "context" });
  }
  return { currentContext, clusters, users, contexts };
}

interface Entries {
  readonly file: string;
  readonly content: JsonObject;
  readonly list: string;
  readonly field: string;
}

function addEntries(known: Map<string, ConfigEntry>, { file, content, list, field }: Entries): void {
  const entries = memberOf(content, list) ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${file}: ${list} must be a list`);
  for (const [at, entry] of entries.entries()) {
    if (!isJsonObject(entry))
      throw new KubeconfigError(`${file}: ${list}[${at}] must be an object with name and ${field}`);
    const name = stringIn(entry, "name", `${file}: ${list}[${at}]`);
    const value = memberOf(entry, field) ?? {};
    if (name === "") throw new KubeconfigError(`${file}: ${list}[${at}].name is empty: set a name`);
    if (!isJsonObject(value)) throw new KubeconfigError(`${file}: ${list}[${name}].${field} must be an object`);
    if (!known.has(name)) known.set(name, { at: `${file}: ${list}[${name}].${field}`, file, value });
  }
}

/** Returns a text, "" if it is missing. @throws KubeconfigError for any other type */
export function stringIn(object: JsonObject, field: string, at: string): string {
  const value = memberOf(object, field) ?? "";
  if (typeof value !== "string") throw new KubeconfigError(`${at}: ${field} must be a string: put it in quotes`);
  return value;
}

/** @throws KubeconfigError for anything but true and false */
export function booleanIn(object: JsonObject, field: string, at: string): boolean {
  const value = memberOf(object, field) ?? false;
  if (typeof value !== "boolean") throw new KubeconfigError(`${at}: ${field} must be true or false`);
  return value;
}

/** @throws KubeconfigError for anything but a list of strings */
export function stringsIn(object: JsonObject, field: string, at: string): string[] {
  const value = memberOf(object, field) ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw new KubeconfigError(`${at}: ${field} must be a list of strings`);
  return value;
}

/** Sources of the configuration, as in `kubectl`. */
export interface KubeconfigOptions {
  /** Only this file (`--kubeconfig`). @default files of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  readonly file?: string | undefined;
  /** Contents of files that the caller has read, the most important first. @default the files are read */
  readonly contents?: readonly KubeconfigContent[] | undefined;
  /** Context (`--context`). @default the `current-context` */
  readonly context?: string | undefined;
  /** Values that replace those of the files, like kubectl's flags. */
  readonly overrides?: KubeconfigOverrides | undefined;
  /** Environment variables. @default those of the process */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Folder with the `token`, `ca.crt` and `namespace` of a pod. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly serviceAccount?: string | undefined;
}

/** Content of a kubeconfig. Its relative paths start in the folder of `file`. */
export interface KubeconfigContent {
  readonly file: string;
  readonly content: JsonObject;
}

/**
 * Fields of a kubeconfig that replace those of the selected entries: kubectl's `--server` is `cluster: { server }`, `--token`
 * is `user: { token }`, `--user` is `context: { user }`. They also replace equivalent fields, such as a certificate in a file
 * and its data. Paths must be absolute. With a server, no context is required.
 */
export interface KubeconfigOverrides {
  readonly context?: JsonObject;
  readonly cluster?: JsonObject;
  readonly user?: JsonObject;
}

/** Configuration for `new Client`. */
export interface LoadedKubeconfig {
  readonly upstream: UpstreamOptions;
  /** Logical cluster at the end of the server's URL. */
  readonly cluster?: string;
  readonly impersonate?: Impersonation;
  /** Name of the context; "" for a pod. */
  readonly context: string;
  /** Default namespace. */
  readonly namespace: string;
}
