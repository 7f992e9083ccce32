import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { memberOf } from "@virtual-workspaces/apimachinery/json";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import type { Impersonation } from "../http/impersonation.ts";

/** A cluster, user or context of a kubeconfig, with where it is written. */
export interface ConfigEntry {
  /** `/home/ann/.kube/config: users[ann].user`. */
  readonly at: string;
  /** Relative paths begin in its folder. */
  readonly file: string;
  readonly value: JsonObject;
}

/** Kubeconfigs, merged. */
export interface Config {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, ConfigEntry>;
  readonly users: ReadonlyMap<string, ConfigEntry>;
  readonly contexts: ReadonlyMap<string, ConfigEntry>;
}

/** What is wrong with a kubeconfig: where, and what to do. Never with a value that could be secret. */
export class KubeconfigError extends Error {
  override readonly name: string = "KubeconfigError";
}

/** As `kubectl` merges: the first that has an entry, or a current context, counts, and nothing of the others is mixed into it. */
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
    if (name === "") throw new KubeconfigError(`${file}: ${list}[${at}].name: give it one`);
    if (!isJsonObject(value)) throw new KubeconfigError(`${file}: ${list}[${name}].${field} must be an object`);
    if (!known.has(name)) known.set(name, { at: `${file}: ${list}[${name}].${field}`, file, value });
  }
}

/** A text, "" where there is none. @throws KubeconfigError on something else */
export function stringIn(object: JsonObject, field: string, at: string): string {
  const value = memberOf(object, field) ?? "";
  if (typeof value !== "string") throw new KubeconfigError(`${at}: ${field} must be a text: put it in quotes`);
  return value;
}

/** @throws KubeconfigError on something else than true and false */
export function booleanIn(object: JsonObject, field: string, at: string): boolean {
  const value = memberOf(object, field) ?? false;
  if (typeof value !== "boolean") throw new KubeconfigError(`${at}: ${field} must be true or false`);
  return value;
}

/** @throws KubeconfigError on something else than a list of texts */
export function stringsIn(object: JsonObject, field: string, at: string): string[] {
  const value = memberOf(object, field) ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw new KubeconfigError(`${at}: ${field} must be a list of texts`);
  return value;
}

/** Where credentials are looked for, as `kubectl` does. */
export interface KubeconfigOptions {
  /** This file and no other (`--kubeconfig`). @default those of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  readonly file?: string | undefined;
  /** What the files hold, the one that counts most first, where they have been read already. @default they are read */
  readonly contents?: readonly KubeconfigContent[] | undefined;
  /** (`--context`) @default the `current-context` */
  readonly context?: string | undefined;
  /** What counts instead of what the files say, as kubectl's flags do. */
  readonly overrides?: KubeconfigOverrides | undefined;
  /** @default the process's */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder with the `token`, `ca.crt` and `namespace` of a pod. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly serviceAccount?: string | undefined;
}

/** A kubeconfig that has been read: relative paths in it begin in the folder of `file`. */
export interface KubeconfigContent {
  readonly file: string;
  readonly content: JsonObject;
}

/**
 * Fields of a kubeconfig, as they are written there, over those of the entries that are used: `--server` of kubectl is
 * `cluster: { server }`, `--token` is `user: { token }`, `--user` is `context: { user }`. What says the same in another way (a
 * certificate in a file, or as it is) goes with it. Paths are absolute. With a server, no context has to be there.
 */
export interface KubeconfigOverrides {
  readonly context?: JsonObject;
  readonly cluster?: JsonObject;
  readonly user?: JsonObject;
}

/** What a kubeconfig says, as `new Client` takes it. */
export interface LoadedKubeconfig {
  readonly upstream: UpstreamOptions;
  /** What the server's URL ends with. */
  readonly cluster?: string;
  readonly impersonate?: Impersonation;
  /** "" for a pod. */
  readonly context: string;
  /** Which one is meant where none is said. */
  readonly namespace: string;
}
