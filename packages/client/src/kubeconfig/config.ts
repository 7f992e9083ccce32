import { isJsonObject, type JsonObject, memberOf } from "@virtual-workspaces/apimachinery";

/** A cluster, user or context of a kubeconfig, with where it is written. */
export interface Entry {
  /** `/home/ann/.kube/config: users[ann].user`. */
  readonly at: string;
  /** Relative paths begin in its folder. */
  readonly file: string;
  readonly value: JsonObject;
}

/** Kubeconfigs, merged. */
export interface Config {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

/** What is wrong with a kubeconfig: where, and what to do. Never with a value that could be secret. */
export class KubeconfigError extends Error {
  override readonly name: string = "KubeconfigError";
}

/** As `kubectl` merges: the first that has an entry, or a current context, counts, and nothing of the others is mixed into it. */
export function mergedConfig(files: readonly { readonly file: string; readonly content: JsonObject }[]): Config {
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  const contexts = new Map<string, Entry>();
  let currentContext = "";
  for (const { file, content } of files) {
    if (currentContext === "") currentContext = textOf(content, "current-context", file);
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

function addEntries(known: Map<string, Entry>, { file, content, list, field }: Entries): void {
  const entries = memberOf(content, list) ?? [];
  if (!Array.isArray(entries)) throw new KubeconfigError(`${file}: ${list} must be a list`);
  for (const [at, entry] of entries.entries()) {
    if (!isJsonObject(entry))
      throw new KubeconfigError(`${file}: ${list}[${at}] must be an object with name and ${field}`);
    const name = textOf(entry, "name", `${file}: ${list}[${at}]`);
    const value = memberOf(entry, field) ?? {};
    if (name === "") throw new KubeconfigError(`${file}: ${list}[${at}].name: give it one`);
    if (!isJsonObject(value)) throw new KubeconfigError(`${file}: ${list}[${name}].${field} must be an object`);
    if (!known.has(name)) known.set(name, { at: `${file}: ${list}[${name}].${field}`, file, value });
  }
}

/** A text, "" where there is none. @throws KubeconfigError on something else */
export function textOf(object: JsonObject, field: string, at: string): string {
  const value = memberOf(object, field) ?? "";
  if (typeof value !== "string") throw new KubeconfigError(`${at}: ${field} must be a text: put it in quotes`);
  return value;
}

/** @throws KubeconfigError on something else than true and false */
export function flagOf(object: JsonObject, field: string, at: string): boolean {
  const value = memberOf(object, field) ?? false;
  if (typeof value !== "boolean") throw new KubeconfigError(`${at}: ${field} must be true or false`);
  return value;
}

/** @throws KubeconfigError on something else than a list of texts */
export function textsOf(object: JsonObject, field: string, at: string): string[] {
  const value = memberOf(object, field) ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw new KubeconfigError(`${at}: ${field} must be a list of texts`);
  return value;
}
