import { User } from "@virtual-workspaces/framework";
import type { LogicalCluster } from "@virtual-workspaces/kcp";
import { initializerLabel, PHASE_LABEL, terminatorLabel } from "@virtual-workspaces/kcp/names";
import {
  contentWarrant,
  INITIALIZER_GROUP_PREFIX,
  TERMINATOR_GROUP_PREFIX,
  withWarrant,
} from "@virtual-workspaces/kcp/users";

/** Phase of a workspace in which controllers of its types work, with the differences between the views. */
export interface Phase {
  /** Name of the view. */
  readonly name: "initializingworkspaces" | "terminatingworkspaces" | "preparingworkspaces";
  /** Verb on the WorkspaceType that the view requires. */
  readonly verb: "initialize" | "terminate" | "prepare";
  /** Term for a controller in this phase. */
  readonly holder: "initializer" | "terminator";
  /** List of the pending controllers in a LogicalCluster's `status`. */
  readonly holders: "initializers" | "terminators";
  /** Field of a WorkspaceType with the permissions of the controllers. */
  readonly permissions: "initializerPermissions" | "terminatorPermissions";
  /** Whether controllers without these permissions get the rights of the workspace's owner, instead of none. */
  readonly asOwner: boolean;
  /** Returns the identity for requests that the type's permissions allow, which the shard accepts. */
  readonly as: (user: User, at: { readonly holder: string; readonly cluster: string }) => User;
  /**
   * Whether discovery and OpenAPI in one logical cluster show only the view's LogicalCluster, and not the workspace's resources. As
   * in kcp.
   */
  readonly tellsOfItself: boolean;
  /** Whether `system:masters` may use names that no type can have, as in kcp. */
  readonly anyName: boolean;
}

/** Phase that the shard reports by labels, for kcp's two views. */
export interface KcpPhase extends Phase {
  /** Returns the label selector of the LogicalClusters that wait for a controller. */
  readonly labels: (holder: string) => string;
  /** Label selector of the LogicalClusters that wait for any controller. */
  readonly waiting: string;
  /** Type of the event with which a LogicalCluster enters an open watch, as in kcp. */
  readonly entering: "ADDED" | "MODIFIED";
  /** Returns whether a LogicalCluster waits for a controller, by its status. */
  readonly waits: (cluster: LogicalCluster, holder: string) => boolean;
}

/** Workspaces that are initializing. */
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
  entering: "ADDED",
  waits: ({ status }, holder) => status?.phase === "Initializing" && has(status.initializers, holder),
  tellsOfItself: false,
  anyName: true,
};

/**
 * Workspaces that are cleaned up before deletion. kcp checks the deletion timestamp; the phase follows it at once, and is a label
 * for selectors.
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
  entering: "MODIFIED",
  waits: ({ metadata, status }, holder) => metadata.deletionTimestamp !== undefined && has(status?.terminators, holder),
  tellsOfItself: true,
  anyName: true,
};

/**
 * Ready workspaces that a type prepares. This phase is ours, and unknown to shards. A controller for initialization works in it
 * unchanged. Security: the workspace belongs to its users, so no controller acts as its owner, and shards do not accept initializer
 * groups for it.
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
  anyName: false,
};

/** Returns the caller with a group that marks the request as authorized for the shard. */
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
