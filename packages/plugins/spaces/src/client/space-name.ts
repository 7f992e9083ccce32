import { ApiError, dnsLabelProblems, type GroupResource, nameProblems, quote } from "@virtual-workspaces/apimachinery";
import { Space } from "../kinds/space.ts";

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
export function wholeName(text: string, namespace: string): SpaceName {
  const whole = text.includes("/") ? text : nameOf({ namespace, name: text });
  const parts = partsOf(whole);
  if (dnsLabelProblems(parts.namespace).length > 0 || nameProblems(parts.name).length > 0)
    throw ApiError.badRequest(`space ${quote(text)}: give <namespace>/<name>, or a name alone for one of ${namespace}`);
  return whole;
}

/** How a Space is for those who want to use it: a Kubernetes condition of type `Ready`. */
export interface SpaceState {
  readonly name: SpaceName;
  readonly ready: boolean;
  /** `Ready`; the Space's own reason where it is not Ready; `NoAccess`, `SecretNotFound`, `SecretInvalid`, `Refused`. */
  readonly reason: string;
  /** What is wrong, and the remedy; without anything secret. */
  readonly message: string;
}

const SPACES: GroupResource = { group: Space.group, resource: Space.plural };

/** Why a Space cannot be used: 404 where there is none, 503 where it is not ready, and may be later. */
export function unusableError(name: SpaceName, state: SpaceState | undefined): ApiError {
  if (state === undefined) return ApiError.notFound(SPACES, name);
  return ApiError.serviceUnavailable(`space ${name} cannot be used now: ${state.reason}: ${state.message}`);
}
