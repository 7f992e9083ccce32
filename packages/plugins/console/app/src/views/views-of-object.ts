import { workspacePath } from "../api/base.ts";
import type { ObjectAddress } from "../api/objects.ts";
import { type ApiBinding, BINDINGS } from "../kcp/kinds.ts";
import { inWorkspace } from "../kcp/lists.ts";
import { viewPath } from "../kcp/view-path.ts";
import { pathFor, type ServerView } from "./server-views.ts";
import { texts } from "./texts.ts";

/** A view that may serve an object. */
export interface Candidate {
  readonly name: string;
  /** Path of its API for the workspace of the object. */
  readonly path: string;
  /** The binding by which the view of an export shows the object. */
  readonly binding?: string;
}

/** Views that are the workspace itself. */
const SELF: ReadonlySet<string> = new Set(["clusters", "shard"]);

/** The view without which no server with query views lists the views to a user. */
const QUERY: ServerView = { name: "query", path: "/services/query/clusters/{cluster}" };

/** The views over one workspace, and those of the exports that the workspace has bound. To be read while a component is rendered. */
export function candidatesFor(
  { workspace, resource }: ObjectAddress,
  cluster: string,
  views: readonly ServerView[],
): readonly Candidate[] {
  const known = views.some(({ path }) => path !== undefined) ? views : [QUERY];
  const overOne = known
    .filter(({ name }) => !SELF.has(name))
    .flatMap((view) => {
      const path = pathFor(view, cluster);
      return path === undefined ? [] : [{ name: view.name, path }];
    });
  const bindings = inWorkspace<ApiBinding>(workspace, BINDINGS).items.filter((one) => concerns(one, resource));
  const ofExports = bindings.flatMap(({ metadata, spec, status }) => {
    const name = spec?.reference?.export?.name;
    const holder = status?.apiExportClusterName;
    if (name === undefined || holder === undefined) return [];
    const path = `${viewPath(holder, name)}/${workspacePath(cluster)}`;
    return [{ name: texts.object.export(name), path, binding: metadata.name }];
  });
  return [...overOne, ...ofExports];
}

/** Whether an export shows objects of a resource: its own ones, or claimed ones that the binding accepts. */
function concerns({ status }: ApiBinding, { group, resource }: ObjectAddress["resource"]): boolean {
  const own = (status?.boundResources ?? []).some((one) => one.group === group && one.resource === resource);
  const claimed = (status?.appliedPermissionClaims ?? []).some(
    (one) => (one.group ?? "") === group && one.resource === resource,
  );
  return own || claimed;
}
