import type { RequestInfo } from "@virtual-workspaces/framework/request";

/** Selector in a review: raw, or parsed into requirements. */
export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Attributes of an access check, about objects (`ResourceAttributes`) or a path (`NonResourceAttributes`). */
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

/** Returns the attributes of a request. */
export function attributesOf(request: RequestInfo): AccessAttributes {
  const { isResource, verb, path, group, version, resource, subresource, namespace, name } = request;
  return isResource ? { verb, group, version, resource, subresource, namespace, name } : { verb, path };
}

/**
 * Returns the verb of a proxied request for the subresource `proxy`: its own, but `create` for terminals and tunnels.
 * Security: over WebSocket these begin with a GET and execute whatever is typed (KEP-4006), so `get` alone must not allow
 * them.
 */
export function proxyVerb({ verb, upgrade, subresource }: RequestInfo): string {
  return upgrade && subresource !== "" ? "create" : verb;
}

/** Returns the attributes for a review: in a fixed order, so that equal checks are equal texts, and without empty fields. */
export function questionOf(attributes: AccessAttributes): object {
  const { verb } = attributes;
  if ("path" in attributes) return { nonResourceAttributes: { path: attributes.path, verb } };
  const { group, version, resource, subresource, namespace, name, fieldSelector, labelSelector } = attributes;
  const all = { namespace, verb, group, version, resource, subresource, name, fieldSelector, labelSelector };
  return { resourceAttributes: Object.fromEntries(Object.entries(all).filter(([, value]) => value && value !== "")) };
}
