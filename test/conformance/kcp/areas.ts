// All areas, in the order in which the suite plays them.
import { access } from "./areas/access.ts";
import { apis } from "./areas/apis.ts";
import { core } from "./areas/core.ts";
import { definitions } from "./areas/definitions.ts";
import { discovery } from "./areas/discovery.ts";
import { LIFECYCLE } from "./areas/lifecycle/areas.ts";
import { metadata } from "./areas/metadata.ts";
import { plugins } from "./areas/plugins.ts";
import { urls } from "./areas/urls.ts";
import { viewAccess } from "./areas/view/access.ts";
import { viewClaims } from "./areas/view/claims.ts";
import { viewDiscovery } from "./areas/view/discovery.ts";
import { viewObjects } from "./areas/view/objects.ts";
import { viewSchemas } from "./areas/view/schemas.ts";
import { viewUrls } from "./areas/view/urls.ts";
import { viewWildcard } from "./areas/view/wildcard.ts";
import { workspaces } from "./areas/workspaces.ts";
import type { Area } from "./step.ts";

export const AREAS: readonly Area[] = [
  ...[discovery, urls, workspaces, apis, definitions, core, access, metadata, plugins],
  ...[viewDiscovery, viewObjects, viewClaims, viewWildcard, viewAccess, viewUrls, viewSchemas],
  ...LIFECYCLE,
];

/** Returns the named areas, such as `urls,workspaces`. @default all @throws Error for an unknown area */
export function areasOf(asked: string | undefined): readonly Area[] {
  if (asked === undefined) return AREAS;
  return asked.split(",").map((name) => {
    const found = AREAS.find((area) => area.name === name);
    if (found === undefined)
      throw new Error(`unknown area "${name}": use one of ${AREAS.map((area) => area.name).join(", ")}`);
    return found;
  });
}
