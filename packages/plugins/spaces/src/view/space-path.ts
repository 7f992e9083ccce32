import type { Space } from "../kinds/space.ts";

/** Which Spaces a URL is about, `/services/spaces/<provider>/<space>`, as it says. */
export interface SpacePath {
  readonly provider: string;
  readonly space: string;
}

/** Whatever it is called. */
const ANY = "*";
/** In the place of a provider where there is none, as of imported Spaces: no SpaceProviderDesc can be called so. */
const NONE = "-";

/** Whether it is one Space that is meant. */
export const isOne = ({ provider, space }: SpacePath): boolean => provider !== ANY && space !== ANY;

/** Where a Space is. */
const spacePathOf = ({ metadata, spec }: Space): SpacePath => ({
  provider: spec.SpaceProviderDescName ?? NONE,
  space: metadata.name ?? "",
});

/** Whether a Space is meant. */
export function isAt({ provider, space }: SpacePath, object: Space): boolean {
  const own = spacePathOf(object);
  return (provider === ANY || provider === own.provider) && (space === ANY || space === own.space);
}

/** The path of a Space in the view. */
export const pathTo = (object: Space): string => {
  const { provider, space } = spacePathOf(object);
  return `/services/spaces/${provider}/${space}`;
};
