import { User } from "@virtual-workspaces/framework";
import type { LogicalCluster } from "@virtual-workspaces/kcp";
import { initializerLabel, PHASE_LABEL, terminatorLabel } from "@virtual-workspaces/kcp/names";
import {
  contentWarrant,
  INITIALIZER_GROUP_PREFIX,
  TERMINATOR_GROUP_PREFIX,
  withWarrant,
} from "@virtual-workspaces/kcp/users";

/** A part of a workspace's life in which controllers of its types have their turn: what the views differ by. */
export interface Phase {
  /** The view. */
  readonly name: "initializingworkspaces" | "terminatingworkspaces" | "preparingworkspaces";
  /** What whoever looks must be allowed to do to the WorkspaceType. */
  readonly verb: "initialize" | "terminate" | "prepare";
  /** What a controller is called whose turn it is. */
  readonly holder: "initializer" | "terminator";
  /** Where a LogicalCluster lists those whose turn it is, below `status`. */
  readonly holders: "initializers" | "terminators";
  /** Where a WorkspaceType says what they may do. */
  readonly permissions: "initializerPermissions" | "terminatorPermissions";
  /** Whether a type that says nothing of it lets them do what the workspace's owner may. Else that is nothing. */
  readonly asOwner: boolean;
  /** As whom the shard is asked for what a type does allow: somebody whom it lets in, since this view has. */
  readonly as: (user: User, at: { readonly holder: string; readonly cluster: string }) => User;
  /**
   * Whether discovery and OpenAPI in one logical cluster tell of the LogicalCluster alone, which the view has, and not of
   * what the workspace has. As in kcp.
   */
  readonly tellsOfItself: boolean;
}

/** One that the shard knows: it says by labels who waits for whom. What kcp's two views differ by. */
export interface KcpPhase extends Phase {
  /** The labels of the LogicalClusters that wait for one of them. */
  readonly labels: (holder: string) => string;
  /** The label of all that anybody waits for. */
  readonly waiting: string;
  /** Whether one waits for a controller, by what it says itself. */
  readonly waits: (cluster: LogicalCluster, holder: string) => boolean;
}

/** Workspaces that are set up. */
export const INITIALIZING: KcpPhase = {
  name: "initializingworkspaces",
  verb: "initialize",
  holder: "initializer",
  holders: "initializers",
  permissions: "initializerPermissions",
  asOwner: true,
  as: asMember(INITIALIZER_GROUP_PREFIX),
  labels: (holder) => `${PHASE_LABEL}=Initializing,${labelText(initializerLabel(holder))}`,
  waiting: `${PHASE_LABEL}=Initializing`,
  waits: ({ status }, holder) => status?.phase === "Initializing" && has(status.initializers, holder),
  tellsOfItself: false,
};

/**
 * Workspaces that are cleaned up before they go. kcp looks for the timestamp of the deletion; the phase follows it at once, and
 * a label can be asked for.
 */
export const TERMINATING: KcpPhase = {
  name: "terminatingworkspaces",
  verb: "terminate",
  holder: "terminator",
  holders: "terminators",
  permissions: "terminatorPermissions",
  asOwner: true,
  as: asMember(TERMINATOR_GROUP_PREFIX),
  labels: (holder) => `${PHASE_LABEL}=Terminating,${labelText(terminatorLabel(holder))}`,
  waiting: `${PHASE_LABEL}=Terminating`,
  waits: ({ metadata, status }, holder) => metadata.deletionTimestamp !== undefined && has(status?.terminators, holder),
  tellsOfItself: true,
};

/**
 * Workspaces that are used already, and that a type wants prepared: our own, no shard knows of it. A controller that sets
 * workspaces up works there as it is. A workspace belongs to its users by now: nobody has it as its owner, and the groups by
 * which shards let initializers in count no more.
 */
export const PREPARING: Phase = {
  name: "preparingworkspaces",
  verb: "prepare",
  holder: "initializer",
  holders: "initializers",
  permissions: "initializerPermissions",
  asOwner: false,
  as: (user, { cluster }) => new User(withWarrant(user, contentWarrant(cluster))),
  tellsOfItself: false,
};

/** As the caller, with a group that tells the shard of what the view has allowed. */
function asMember(prefix: string): Phase["as"] {
  return ({ name, uid, groups, extra }, { holder }) =>
    new User({ name, uid, extra, groups: [prefix + holder, ...groups] });
}

function has(holders: readonly string[] | undefined, holder: string): boolean {
  return holders?.includes(holder) === true;
}

function labelText({ key, value }: { readonly key: string; readonly value: string }): string {
  return `${key}=${value}`;
}
