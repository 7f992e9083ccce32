import { ApiError, dnsLabelProblems, nameProblems, quote } from "@virtual-workspaces/apimachinery";

/** Which Space: `<namespace>/<name>`. */
export type SpaceName = string;

/** The whole name of a Space. */
export const nameOf = (key: { readonly namespace?: string; readonly name?: string }): SpaceName =>
  `${key.namespace ?? ""}/${key.name ?? ""}`;

/** A whole name in its parts. */
export function partsOf(name: SpaceName): { readonly namespace: string; readonly name: string } {
  const at = name.indexOf("/");
  return { namespace: name.slice(0, at), name: name.slice(at + 1) };
}

/**
 * The whole name of what somebody calls a Space.
 *
 * @param namespace where a name alone is
 * @throws ApiError 400 on what is no name
 */
export function fullName(text: string, namespace: string): SpaceName {
  const whole = text.includes("/") ? text : nameOf({ namespace, name: text });
  const parts = partsOf(whole);
  if (dnsLabelProblems(parts.namespace).length > 0 || nameProblems(parts.name).length > 0)
    throw ApiError.badRequest(`space ${quote(text)}: give <namespace>/<name>, or a name alone for one of ${namespace}`);
  return whole;
}
