import { ApiError, formatGroupResource, type GroupResource, quote } from "@virtual-workspaces/apimachinery";
import type { Space } from "../kinds/space.ts";

/** Provider and name in a URL `/services/spaces/<provider>/<space>`. */
export interface SpacePath {
  readonly provider: string;
  readonly space: string;
}

/** Matches any name. */
const ANY = "*";
/** Stands for no provider, as with imported Spaces. It is no valid name of a SpaceProviderDesc. */
const NONE = "-";

/** Reports whether a path selects a single Space. */
export const isOne = ({ provider, space }: SpacePath): boolean => provider !== ANY && space !== ANY;

/** Returns the path of a Space. */
const spacePathOf = ({ metadata, spec }: Space): SpacePath => ({
  provider: spec.SpaceProviderDescName ?? NONE,
  space: metadata.name ?? "",
});

/** Reports whether a path selects a Space. */
export function isAt({ provider, space }: SpacePath, object: Space): boolean {
  const own = spacePathOf(object);
  return (provider === ANY || provider === own.provider) && (space === ANY || space === own.space);
}

/** Returns the URL path of a Space in the view. */
export const pathTo = (object: Space): string => {
  const { provider, space } = spacePathOf(object);
  return `/services/spaces/${provider}/${space}`;
};

/**
 * Returns the error for a name that several objects have: 400, since a retry does not help. It is no 409 `Conflict`, below which `kubectl
 * apply --server-side` prints advice about field managers, and which clients retry.
 */
export function ambiguous(resource: GroupResource, name: string, message: string): ApiError {
  return ApiError.badRequest(`${formatGroupResource(resource)} ${quote(name)} is ambiguous: ${message}`);
}
