import type { KubeObject } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardUrls } from "../shard-urls.ts";
import type { Writable } from "./modify.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardState } from "./shard-state.ts";

/**
 * A shard as the other shards see it. Whatever one shard asks of another goes through this interface, so that the other
 * one may run elsewhere. {@link inProcessPeer} is the implementation for a shard of the same process.
 */
export interface ShardPeer {
  readonly name: string;
  readonly urls: ShardUrls;
  /** Informers over its objects. */
  readonly state: PeerState;
  /** Its objects as they are stored now, to read and to write. */
  readonly objects: PeerObjects;
  /** Decides about requests to its logical clusters, which it alone knows the bindings of. */
  readonly authorizer: ShardAuthorizer;
  /** The virtual workspaces of its own listener; `undefined` where it has none, or they are asked by their URL. */
  readonly services: OwnServices | undefined;
  /**
   * Reads a cluster-scoped object of any kind that one of its logical clusters serves.
   *
   * @returns `undefined` when the logical cluster serves no such kind
   */
  referred(cluster: string, reference: ObjectReference): Promise<ReferredObject | undefined>;
}

/** The informers that other shards read. */
export type PeerState = Pick<
  ShardState,
  | "apiBindings"
  | "apiExports"
  | "apiResourceSchemas"
  | "logicalCluster"
  | "logicalClusters"
  | "rbac"
  | "shards"
  | "workspaceAuthenticationConfigurations"
  | "workspaces"
  | "workspaceTypes"
>;

/** The collections that other shards read and write. */
export interface PeerObjects extends Pick<ShardObjects, "isWhole" | "load" | "whole"> {
  of<T extends object>(resource: TypedDefinition<T>): PeerCollection<T>;
}

/** A kind's objects on another shard. */
export type PeerCollection<T extends object> = Writable<T> & Pick<PersistentCollection<T>, "cache">;

/** Names an object without a namespace, as APIs refer to one. */
export interface ObjectReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** What was found by an {@link ObjectReference}. */
export interface ReferredObject {
  /** Of its kind. */
  readonly plural: string;
  readonly object: KubeObject | undefined;
}
