import {
  type ApiExportViewOptions,
  ApiModel,
  apiExportView,
  apiResourceSchemaView,
} from "@virtual-workspaces/apiexport";
import type { Resource, VirtualWorkspace } from "@virtual-workspaces/framework";
import { LocalSubjectAccessReview, SubjectAccessReview, TokenReview } from "@virtual-workspaces/framework/authz";
import type { Log } from "@virtual-workspaces/framework/server";
import {
  initializingWorkspacesView,
  type LifecycleViewOptions,
  preparingWorkspacesView,
  terminatingWorkspacesView,
  WorkspaceTypes,
} from "@virtual-workspaces/lifecycle";
import { builtInKinds } from "@virtual-workspaces/workspace-server";

const REVIEWS = [TokenReview, SubjectAccessReview, LocalSubjectAccessReview] as unknown as readonly Resource[];
const KINDS = [...builtInKinds.map(({ resource }) => resource), ...REVIEWS];

/** The workspaces of one shard, and what is told of other shards. */
export type KcpViewsOptions = Pick<ApiExportViewOptions, "upstream" | "identity" | "cache"> &
  Pick<LifecycleViewOptions, "reviews">;

/**
 * The views that kcp has itself, over the workspaces of one shard (`--run-virtual-workspaces`, and its `virtual-workspaces`), and beside
 * them ours of workspaces that are to be prepared, whose URLs are theirs but for its name.
 */
export function kcpViews(
  { upstream, identity, cache = upstream, reviews = upstream }: KcpViewsOptions,
  log: Log,
): readonly VirtualWorkspace[] {
  const onErrorOf =
    (view: string) =>
    (error: unknown): void =>
      log({ level: "warn", message: `the view of ${view} lacks something`, error: String(error) });
  const onError = onErrorOf("APIExports");
  const model = new ApiModel({ upstream, cache, onError });
  const ofTypes = onErrorOf("workspaces that begin or end");
  const lifecycle: LifecycleViewOptions = { upstream, cache, reviews, onError: ofTypes };
  const types = new WorkspaceTypes(lifecycle);
  return [
    apiExportView({ upstream, identity, cache, model, kinds: KINDS, onError }),
    apiResourceSchemaView({ upstream, model, onError: onErrorOf("bound APIResourceSchemas") }),
    initializingWorkspacesView({ ...lifecycle, types }),
    terminatingWorkspacesView({ ...lifecycle, types }),
    preparingWorkspacesView({ ...lifecycle, types }),
  ];
}
