import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "./group-resource.ts";

/** Where something is at the other server. */
export interface Target {
  /** The logical cluster, `*`, or "" for a server that has none. */
  readonly cluster: string;
  /** "" for all, and for kinds that are in none. */
  readonly namespace: string;
  /** "" for the collection. */
  readonly name?: string;
  readonly subresource?: string | undefined;
}

/** What is asked besides; what is `undefined` is not said. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The path of objects of a kind, with its query. */
export function pathOf(definition: ResourceDefinition, target: Target, query: Query = {}): string {
  const { group, version, plural, scope } = definition;
  const { cluster, namespace, name = "", subresource } = target;
  const segments = [
    ...(cluster === "" ? [] : ["clusters", cluster]),
    ...(group === "" ? ["api", version] : ["apis", group, version]),
    ...(scope === "Namespaced" && namespace !== "" ? ["namespaces", namespace] : []),
    plural,
    ...(name === "" ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  // Encoding does not keep these from being taken for steps up and down.
  if (segments.includes("..") || segments.includes(".")) throw ApiError.notFound(groupResourceOf(definition), name);
  const path = `/${segments.map(segment).join("/")}`;
  const told = Object.entries(query).filter(([, value]) => value !== undefined);
  return told.length === 0
    ? path
    : `${path}?${new URLSearchParams(told.map(([key, value]): [string, string] => [key, String(value)]))}`;
}

/** The colon of workspace paths may stand in a path as it is. */
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2A", "*");
}
