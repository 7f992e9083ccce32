import { ApiError, dnsLabelProblems, nameProblems, quote } from "@virtual-workspaces/apimachinery";

/** Name of a Space: `<namespace>/<name>`. */
export type SpaceName = string;

/** Returns the full name of a Space. */
export const nameOf = (key: { readonly namespace?: string; readonly name?: string }): SpaceName =>
  `${key.namespace ?? ""}/${key.name ?? ""}`;

/** Splits a full name. */
export function partsOf(name: SpaceName): { readonly namespace: string; readonly name: string } {
  const at = name.indexOf("/");
  return { namespace: name.slice(0, at), name: name.slice(at + 1) };
}

/**
 * Returns the full name for a caller's name of a Space.
 *
 * @param namespace namespace of a short name
 * @throws ApiError 400 on an invalid name
 */
export function fullName(text: string, namespace: string): SpaceName {
  const whole = text.includes("/") ? text : nameOf({ namespace, name: text });
  const parts = partsOf(whole);
  if (dnsLabelProblems(parts.namespace).length > 0 || nameProblems(parts.name).length > 0)
    throw ApiError.badRequest(
      `invalid space name ${quote(text)}: use <namespace>/<name>, or a name in the namespace ${namespace}`,
    );
  return whole;
}
