import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "@virtual-workspaces/framework";
import { groupResourceOf } from "@virtual-workspaces/framework/resource";

/** Location at the upstream. */
export interface Target {
  /** Logical cluster, `*`, or "" for a server without any. */
  readonly cluster: string;
  /** Namespace; "" for all, and for cluster-scoped kinds. */
  readonly namespace: string;
  /** Name; "" for the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** Resource identity (kcp), if the upstream serves several definitions. @default "" */
  readonly identity?: string | undefined;
}

/** Query parameters. Those that are `undefined` or empty are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Returns whether a text is a valid name: one segment of a path, as in Kubernetes. */
export function isName(text: string): boolean {
  return text !== "." && text !== ".." && !/[/%]/.test(text);
}

/** Returns the path of a kind's objects. @throws ApiError 404 for a name that would be another path: no object has it */
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
  // Encoding does not prevent misinterpretation.
  if (!segments.every(isName)) throw ApiError.notFound(groupResourceOf(definition), name);
  return `/${segments.map(segment).join("/")}`;
}

/** Keeps colons, which workspace paths contain. */
function segment(text: string): string {
  return /^[\w:.-]*$/.test(text) ? text : encodeURIComponent(text).replaceAll("%3A", ":");
}

/** Returns a query with its question mark; "" if it is empty. */
export function searchOf(query: Query): string {
  const said = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return said.length === 0 ? "" : `?${said.join("&")}`;
}
