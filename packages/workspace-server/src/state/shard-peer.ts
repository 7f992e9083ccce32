import type { JsonSchema, KubeObject } from "@virtual-workspaces/apimachinery";
import type { LabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { TypedDefinition, ViewSource } from "@virtual-workspaces/framework";
import type { PersistentCollection } from "@virtual-workspaces/store";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardUrls } from "../shard-urls.ts";
import type { Writable } from "./modify.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardState } from "./shard-state.ts";
import type { StoredResource } from "./stored-kinds.ts";

/**
 * A shard as the other shards see it. Calls from one shard to another use only this interface, so that the other one may run
 * elsewhere. {@link inProcessPeer} implements it for a shard of the same process.
 */
export interface ShardPeer {
  readonly name: string;
  readonly urls: ShardUrls;
  /** Informers over the shard's objects. */
  readonly state: PeerState;
  /** Stored objects of the shard, for reads and writes. */
  readonly objects: PeerObjects;
  /** Authorizer of the shard's logical clusters: only this shard knows their bindings. */
  readonly authorizer: ShardAuthorizer;
  /** Virtual workspaces of the shard's own listener; `undefined` if it has none, or they are called by their URL. */
  readonly services: OwnServices | undefined;
  /**
   * Reads a cluster-scoped object of any kind that one of the shard's logical clusters serves.
   *
   * @returns `undefined` when the logical cluster serves no such kind
   */
  referred(cluster: string, reference: ObjectReference): Promise<ReferredObject | undefined>;
  /** Returns the objects of a resource that users have defined or bound; `undefined` if there is none. @throws ApiError 503 */
  custom(cluster: string, resource: StoredResource): ViewSource | undefined;
  /** Returns a kind that one of the shard's logical clusters serves; `undefined` if it serves none of that name. @throws ApiError 503 */
  paramKind(cluster: string, kind: VersionedKind): ParamKindInfo | undefined;
  /** Reads the params of a policy: objects of such a kind, by name or by labels. @throws ApiError 503 */
  params(cluster: string, query: ParamQuery): Promise<readonly KubeObject[]>;
}

/** Informers that other shards read. */
export type PeerState = Pick<
  ShardState,
  | "apiBindings"
  | "apiExports"
  | "apiResourceSchemas"
  | "cachedResources"
  | "logicalCluster"
  | "logicalClusters"
  | "policies"
  | "rbac"
  | "shards"
  | "webhooks"
  | "workspaceAuthenticationConfigurations"
  | "workspaces"
  | "workspaceTypes"
>;

/** Collections that other shards read and write. */
export interface PeerObjects extends Pick<ShardObjects, "isWhole" | "load" | "whole"> {
  of<T extends object>(resource: TypedDefinition<T>): PeerCollection<T>;
}

/** Objects of a kind on another shard. */
export type PeerCollection<T extends object> = Writable<T> & Pick<PersistentCollection<T>, "cache">;

/** Kind in one of its versions. */
export interface VersionedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Facts that a policy needs about the kind of its params. */
export interface ParamKindInfo {
  readonly plural: string;
  readonly scope: "Cluster" | "Namespaced";
  readonly schema: JsonSchema;
}

/** Objects of a kind in a namespace, or cluster-scoped ones with "". */
export interface ParamQuery extends VersionedKind {
  readonly namespace: string;
  /** Name, or labels. */
  readonly of: string | LabelSelector;
}

/** Reference to an object without a namespace, as in APIs. */
export interface ObjectReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** Object found by an {@link ObjectReference}. */
export interface ReferredObject {
  /** Plural name of the object's kind. */
  readonly plural: string;
  readonly object: KubeObject | undefined;
}
