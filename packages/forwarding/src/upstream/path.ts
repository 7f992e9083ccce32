import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";

/** Where something is at the other server. */
export interface Target {
  /** The logical cluster, `*`, or "" for a server that has none. */
  readonly cluster: string;
  /** "" for all, and for kinds that are in none. */
  readonly namespace: string;
  /** "" for the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** By whose definition the kind is meant, where the server tells several apart (kcp's resource identity). @default "" */
  readonly identity?: string | undefined;
}

/** What is asked besides; what is `undefined` or empty is not said. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Whether something may be called so: a name is one step of a path, as Kubernetes has it. */
export function isName(text: string): boolean {
  return text !== "." && text !== ".." && !/[/%]/.test(text);
}

/** The path of objects of a kind. @throws ApiError 404 on a name that would be several steps, or one up: nothing is called so */
export function pathOf(definition: ResourceDefinition, target: Target): string {
  const { group, version, plural } = definition;
  const { cluster, namespace, name = "", subresource, identity = "" } = target;
  const segments = [
    ...(cluster === "" ? [] : ["clusters", cluster]),
    ...(group === "" ? ["api", version] : ["apis", group, version]),
    ...(namespace === "" ? [] : ["namespaces", namespace]),
    identity === "" ? plural : `${plural}:${identity}`,
    ...(name === "" ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  // Encoding does not keep them from being taken for something else.
  if (!segments.every(isName)) throw ApiError.notFound(groupResourceOf(definition), name);
  return `/${segments.map(segment).join("/")}`;
}

/** The colon of workspace paths may stand in a path as it is. */
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":");
}

/** A query with its question mark; "" when it says nothing. */
export function searchOf(query: Query): string {
  const said = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return said.length === 0 ? "" : `?${said.join("&")}`;
}
