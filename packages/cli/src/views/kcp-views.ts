import {
  type ApiExportViewOptions,
  ApiModel,
  apiExportView,
  apiResourceSchemaView,
  type ReplicationViewOptions,
  replicationView,
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

/** The workspaces of one shard, and the cache with objects of other shards. */
export type KcpViewsOptions = Pick<ApiExportViewOptions, "upstream" | "identity" | "cache"> &
  Pick<ReplicationViewOptions, "everywhere"> &
  Pick<LifecycleViewOptions, "reviews"> & {
    /** Whether the view of cached resources is among them (kcp's feature gate `CacheAPIs`). @default false */
    readonly cachedResources?: boolean;
  };

/**
 * Returns kcp's own views over the workspaces of one shard (`--run-virtual-workspaces`, and its `virtual-workspaces`), and
 * this project's view of workspaces to prepare, whose URLs differ from kcp's only in the name.
 */
export function kcpViews(
  {
    upstream,
    identity,
    cache = upstream,
    reviews = upstream,
    everywhere = upstream,
    cachedResources = false,
  }: KcpViewsOptions,
  log: Log,
): readonly VirtualWorkspace[] {
  const onErrorOf =
    (view: string) =>
    (error: unknown): void =>
      log({ level: "warn", message: `error of the view of ${view}`, error: String(error) });
  const onError = onErrorOf("APIExports");
  const model = new ApiModel({ upstream, cache, onError });
  const ofTypes = onErrorOf("initializing and terminating workspaces");
  const lifecycle: LifecycleViewOptions = { upstream, cache, reviews, onError: ofTypes };
  const types = new WorkspaceTypes(lifecycle);
  const ofCached = onErrorOf("cached resources");
  return [
    ...(cachedResources ? [replicationView({ upstream, cache, everywhere, model, onError: ofCached })] : []),
    apiExportView({ upstream, identity, cache, model, kinds: KINDS, onError }),
    apiResourceSchemaView({ upstream, model, onError: onErrorOf("bound APIResourceSchemas") }),
    initializingWorkspacesView({ ...lifecycle, types }),
    terminatingWorkspacesView({ ...lifecycle, types }),
    preparingWorkspacesView({ ...lifecycle, types }),
  ];
}
