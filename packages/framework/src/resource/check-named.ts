import { dnsLabelProblems } from "@virtual-workspaces/apimachinery";
import type { ResourceDefinition } from "../definition.ts";
import type { ConnectSubresource, KindSubresource } from "./named.ts";

/** Subresources of one's own, whatever their types. */
export type AnyConnect = ConnectSubresource<unknown> & Reading;
export type AnyKind = KindSubresource<unknown, object> & Reading;
export type AnyNamed = AnyConnect | AnyKind;

interface Reading {
  readonly object?: "required" | "unread";
}

/**
 * Refuses what could not be served.
 *
 * @param reads whether the storage can tell what there is
 * @throws Error that names the subresource and the remedy
 */
export function checkNamed(
  definition: ResourceDefinition,
  named: Readonly<Record<string, AnyNamed>>,
  { reads }: { readonly reads: boolean },
): void {
  for (const [name, subresource] of Object.entries(named)) {
    const problem = nameProblem(name, definition) ?? formProblem(subresource, reads);
    if (problem !== undefined) throw new Error(`subresource ${definition.plural}/${name}: ${problem}`);
  }
}

function nameProblem(name: string, { plural }: ResourceDefinition): string | undefined {
  if (name === "status" || name === "scale")
    return "this one is the framework's: ask for it by `subresources` of defineResource";
  // `namespaces/<name>/<more>` is how paths into a namespace begin; Kubernetes makes this one exception.
  if (plural === "namespaces" && name !== "finalize")
    return "its path is one into the namespace; only `finalize` can be served";
  const [first] = dnsLabelProblems(name);
  return first === undefined ? undefined : `its name cannot stand in a path: ${first}`;
}

function formProblem(subresource: AnyNamed, reads: boolean): string | undefined {
  if (!reads && subresource.object !== "unread")
    return 'the storage cannot tell whether there is such an object: give it `get`, or say `object: "unread"`';
  const { kind, connect, upgrade } = subresource;
  if (kind !== undefined) {
    if (connect !== undefined || upgrade !== undefined)
      return "it has a kind, so it cannot have `connect` or `upgrade`";
    const { get, create, update } = subresource;
    if (get === undefined && create === undefined && update === undefined)
      return "it does nothing: give it `get`, `create` or `update`";
    return undefined;
  }
  if (connect === undefined && upgrade === undefined)
    return "it does nothing: give it `connect`, `upgrade`, or a `kind` and what to do with it";
  return subresource.methods?.length === 0 ? "it takes no method: leave `methods` out for GET" : undefined;
}
