import type { RequestInfo } from "@virtual-workspaces/framework/request";

/** A selector, as reviews hold it: as it was sent, or taken apart. */
export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** What somebody may do, about objects (`ResourceAttributes`) or about a path (`NonResourceAttributes`). */
export type AccessAttributes =
  | {
      readonly verb: string;
      readonly group?: string;
      readonly version?: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
      readonly fieldSelector?: SelectorAttributes;
      readonly labelSelector?: SelectorAttributes;
    }
  | { readonly verb: string; readonly path: string };

/** The request itself. */
export function attributesOf(request: RequestInfo): AccessAttributes {
  const { isResource, verb, path, group, version, resource, subresource, namespace, name } = request;
  return isResource ? { verb, group, version, resource, subresource, namespace, name } : { verb, path };
}

/**
 * The verb of a request that is passed on whole, for a subresource `proxy` of what it is passed on through: its own, and `create` for terminals and tunnels,
 * which begin with a GET when they come by WebSocket, and do whatever is typed (KEP-4006). Who may `get` alone gets none.
 */
export function proxyVerb({ verb, upgrade, subresource }: RequestInfo): string {
  return upgrade && subresource !== "" ? "create" : verb;
}

/** As a review holds it: in one order, so that equal questions are equal texts, and without what is empty. */
export function questionOf(attributes: AccessAttributes): object {
  const { verb } = attributes;
  if ("path" in attributes) return { nonResourceAttributes: { path: attributes.path, verb } };
  const { group, version, resource, subresource, namespace, name, fieldSelector, labelSelector } = attributes;
  const all = { namespace, verb, group, version, resource, subresource, name, fieldSelector, labelSelector };
  return { resourceAttributes: Object.fromEntries(Object.entries(all).filter(([, value]) => value && value !== "")) };
}
