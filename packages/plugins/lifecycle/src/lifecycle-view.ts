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
 * kcp's view of workspaces that are set up, `/services/initializingworkspaces/<logical cluster of a WorkspaceType>:<type>/clusters/<logical
 * cluster or *>`: the LogicalClusters that wait for the type's initializer, and what is in those workspaces. For whoever may
 * `initialize` the type in its own workspace, and who need not be known in any other. There it may do what `spec.initializerPermissions`
 * says, or what the workspace's owner may if that says nothing; it ends when it takes its initializer off `status.initializers`.
 *
 * Over the workspaces of a shard, asked as a member of `system:masters`. Lists, watches and what is in workspaces pass as bytes. Ready
 * once types and those that wait have been read.
 */
export function initializingWorkspacesView(options: LifecycleViewOptions): VirtualWorkspace {
  return kcpView(INITIALIZING, options);
}

/**
 * kcp's view of workspaces that are cleaned up before they are deleted, `/services/terminatingworkspaces/<logical cluster of a
 * WorkspaceType>:<type>/clusters/<logical cluster or *>`: as {@link initializingWorkspacesView}, for whoever may `terminate` the type, by
 * `spec.terminatorPermissions`, until it takes its terminator off `status.terminators`.
 */
export function terminatingWorkspacesView(options: LifecycleViewOptions): VirtualWorkspace {
  return kcpView(TERMINATING, options);
}

/**
 * The workspaces that a type wants prepared, but that do not wait for it: `/services/preparingworkspaces/<logical cluster of a
 * WorkspaceType>:<type>/clusters/<logical cluster or *>`. kcp has none such. It is as {@link initializingWorkspacesView}, for whoever may
 * `prepare` the type, over workspaces that are Ready, of all types that are this one or extend it, once it has the annotation
 * {@link PREPARES_ANNOTATION}; those of before as well. They are shown with the type's initializer, though none has it. Whoever takes it off
 * has prepared the workspace, which {@link preparedLabel} says then, and does no more there.
 *
 * In a workspace one may do what `spec.initializerPermissions` says, as the caller with a warrant for that workspace, and nothing
 * where that says nothing. So whoever may write a WorkspaceType may have by it what is in its workspaces.
 *
 * Lists and watches are worked out here. Memory: while somebody looks, all LogicalClusters of the shard that are Ready.
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
