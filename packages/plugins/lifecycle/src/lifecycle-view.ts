import { WILDCARD } from "@virtual-workspaces/apimachinery";
import { defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { isContent, lifecycleAccess, located } from "./access.ts";
import { LabelledWorkspaces } from "./clusters/labelled-workspaces.ts";
import { Content, contentRelay } from "./content.ts";
import type { LifecycleViewOptions } from "./options.ts";
import { INITIALIZING, type KcpPhase, type Phase, PREPARING, TERMINATING } from "./phase.ts";
import { UnpreparedWorkspaces } from "./preparing/unprepared-workspaces.ts";
import type { WaitingWorkspaces } from "./waiting.ts";
import { WorkspaceTypes, warn } from "./workspace-types.ts";

/**
 * Returns kcp's view of initializing workspaces, `/services/initializingworkspaces/<logical cluster of a
 * WorkspaceType>:<type>/clusters/<logical cluster or *>`. It shows the LogicalClusters that wait for the type's initializer, and
 * the content of these workspaces. It is for users who may `initialize` the type in its own workspace; they need no rights
 * elsewhere. In a waiting workspace they have `spec.initializerPermissions`, or the owner's rights if these are not set, until they
 * remove their initializer from `status.initializers`.
 *
 * The view calls the workspaces of a shard as a member of `system:masters`. Lists, watches and content are forwarded as bytes. The
 * view is ready after reading the types and the waiting workspaces.
 */
export function initializingWorkspacesView(options: LifecycleViewOptions): VirtualWorkspace {
  return kcpView(INITIALIZING, options);
}

/**
 * Returns kcp's view of terminating workspaces, `/services/terminatingworkspaces/<logical cluster of a
 * WorkspaceType>:<type>/clusters/<logical cluster or *>`. Like {@link initializingWorkspacesView}, for users who may `terminate`
 * the type, with `spec.terminatorPermissions`, until they remove their terminator from `status.terminators`.
 */
export function terminatingWorkspacesView(options: LifecycleViewOptions): VirtualWorkspace {
  return kcpView(TERMINATING, options);
}

/**
 * Returns a view of Ready workspaces that a type prepares, without blocking them: `/services/preparingworkspaces/<logical cluster
 * of a WorkspaceType>:<type>/clusters/<logical cluster or *>`. kcp has no such view. Like {@link initializingWorkspacesView}, for
 * users who may `prepare` the type. It shows new and existing workspaces of the type, and of types that extend it, once the type
 * has the annotation {@link PREPARES_ANNOTATION}. The shown objects have the type's initializer, though the stored ones do not. A
 * controller that removes it has prepared the workspace, as {@link preparedLabel} records, and loses access.
 *
 * Security: in a workspace the caller has only `spec.initializerPermissions`, with a warrant for that workspace, and nothing if
 * these are not set. A user who may write a WorkspaceType can thereby access the content of its workspaces.
 *
 * This process computes lists and watches. Memory: while there are readers, all Ready LogicalClusters of the shard.
 */
export function preparingWorkspacesView({ onError = warn, ...given }: LifecycleViewOptions): VirtualWorkspace {
  const options = { ...given, types: given.types ?? new WorkspaceTypes({ ...given, onError }), onError };
  return lifecycleView(PREPARING, new UnpreparedWorkspaces(options), options);
}

function kcpView(phase: KcpPhase, { onError = warn, ...given }: LifecycleViewOptions): VirtualWorkspace {
  const options = { ...given, types: given.types ?? new WorkspaceTypes({ ...given, onError }), onError };
  return lifecycleView(phase, new LabelledWorkspaces({ ...options, phase }), options);
}

type Settled = LifecycleViewOptions & Required<Pick<LifecycleViewOptions, "types" | "onError">>;

function lifecycleView(phase: Phase, workspaces: WaitingWorkspaces, options: Settled): VirtualWorkspace {
  const { upstream, types, onError } = options;
  const content = new Content({ phase, workspaces, types });
  const access = lifecycleAccess(phase, content, options);
  return defineVirtualWorkspace({
    name: phase.name,
    path: "/:holder/clusters/:cluster",
    wildcard: true,
    // kcp has no view of that phase.
    plainDiscovery: phase !== PREPARING,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params: { holder, cluster } }) => workspaces.of(holder)[cluster === WILDCARD ? "everywhere" : "one"],
    handleWhen: (request) => isContent(phase, request),
    ...contentRelay({ upstream, content, onError }),
    ready: async () => void (await Promise.all([types.synced(), workspaces.ready()])),
    setup: () => {
      const held = [types.hold(), workspaces.start(), access];
      return {
        [Symbol.asyncDispose]: async () => void (await Promise.all(held.map((one) => one[Symbol.asyncDispose]()))),
      };
    },
  });
}
