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
