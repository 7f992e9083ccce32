import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { Entry } from "./config.ts";

/** Fields that say one thing in several ways: who overrides one of them overrides all (clientcmd's `getAuthInfo`, `getCluster`). */
const ALTERNATIVES: readonly (readonly string[])[] = [
  ["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"],
  ["client-certificate", "client-certificate-data"],
  ["client-key", "client-key-data"],
  ["token", "tokenFile"],
];

/** What is used where a kubeconfig names nothing. */
export const NOTHING: Entry = { at: "the flags", file: "", value: {} };

/** An entry with what counts instead of its own fields. */
export function overridden(entry: Entry, fields: JsonObject = {}): Entry {
  const given = Object.keys(fields);
  if (given.length === 0) return entry;
  const replaced = ALTERNATIVES.filter((names) => names.some((name) => given.includes(name))).flat();
  const kept = Object.entries(entry.value).filter(([name]) => !replaced.includes(name));
  return { ...entry, value: { ...Object.fromEntries(kept), ...fields } };
}
