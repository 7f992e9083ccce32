import { authenticatedUser, type ServedResource, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Loaded, ViewSummary } from "./messages.ts";
import { ADMIN } from "./users.ts";

/** The logical cluster that is shown and used unless another is named. */
const CLUSTER = "root";

/** What the supervisor tells the user of the views. */
export async function summarise(
  views: readonly VirtualWorkspace[],
  all: VirtualWorkspace | undefined,
): Promise<Omit<Loaded, "store">> {
  return {
    views: await Promise.all(views.map(summaryOf)),
    all: all === undefined ? undefined : await summaryOf(all),
  };
}

async function summaryOf(view: VirtualWorkspace): Promise<ViewSummary> {
  const resources = await resourcesOf(view);
  return {
    name: view.name,
    path: `${view.prefix ?? `/services/${view.name}`}${view.path === "/" ? "" : view.path.replace(":cluster", CLUSTER)}`,
    resources: resources
      .filter(({ identity }) => identity === "")
      .map(({ definition: { group, version, plural } }) => ({
        plural,
        path: `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`,
      })),
    moves: view.setup !== undefined,
  };
}

/** None when the view cannot say before it is set up: this is a hint on a terminal, no more. */
async function resourcesOf({ resources = [] }: VirtualWorkspace): Promise<readonly ServedResource[]> {
  if (typeof resources !== "function") return resources;
  try {
    const user = authenticatedUser(ADMIN);
    return await resources({ user, params: { cluster: CLUSTER }, signal: AbortSignal.timeout(1000) });
  } catch {
    return [];
  }
}
