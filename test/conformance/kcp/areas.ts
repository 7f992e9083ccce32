// All areas, in the order in which they are played.
import { access } from "./areas/access.ts";
import { apis } from "./areas/apis.ts";
import { core } from "./areas/core.ts";
import { definitions } from "./areas/definitions.ts";
import { discovery } from "./areas/discovery.ts";
import { metadata } from "./areas/metadata.ts";
import { plugins } from "./areas/plugins.ts";
import { urls } from "./areas/urls.ts";
import { workspaces } from "./areas/workspaces.ts";
import type { Area } from "./step.ts";

export const AREAS: readonly Area[] = [discovery, urls, workspaces, apis, definitions, core, access, metadata, plugins];

/** Those that are asked for, like `urls,workspaces`. @default all @throws Error when there is no such area */
export function areasOf(asked: string | undefined): readonly Area[] {
  if (asked === undefined) return AREAS;
  return asked.split(",").map((name) => {
    const found = AREAS.find((area) => area.name === name);
    if (found === undefined)
      throw new Error(`there is no area ${name}, only ${AREAS.map((area) => area.name).join(", ")}`);
    return found;
  });
}
