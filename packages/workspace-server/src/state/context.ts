import type { Log } from "@virtual-workspaces/framework/server";
import type { ObjectFeed } from "@virtual-workspaces/store";
import type { Clock } from "@virtual-workspaces/transport";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardUrls } from "../shard-urls.ts";
import type { TokenMinter } from "../tokens/minter.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardRegistry } from "./shard-registry.ts";
import type { ShardState } from "./shard-state.ts";
import type { KindsOfClusters } from "./stored-kinds.ts";

/** State that the controllers and the serving of one shard share. */
export interface ShardContext {
  readonly name: string;
  readonly urls: ShardUrls;
  /** Collections of the shard, for writes. */
  readonly objects: ShardObjects;
  /** Informers over these collections, for reads. */
  readonly state: ShardState;
  /** Registry of all shards. */
  readonly registry: ShardRegistry;
  /** Authorizer of the shard's logical clusters. */
  readonly authorizer: ShardAuthorizer;
  /** Kinds of each logical cluster, with their storage. */
  readonly kinds: KindsOfClusters;
  /** Events of all encoded objects of the shard. It begins after all controllers are created. */
  readonly feed: ObjectFeed;
  /** CA certificate with which clients verify the server, PEM, current. */
  readonly rootCa: () => string;
  /** Signs tokens of service accounts. */
  readonly minter: TokenMinter;
  /** Whether workspaces may be mounted. @default true */
  readonly mounts?: boolean;
  /** Time of delays and backoff of controllers. */
  readonly clock: Clock;
  readonly log: Log;
  /** Views of the shard's own listener. */
  readonly services: OwnServices | undefined;
}

/** One or several controllers of a shard. */
export interface ShardController extends AsyncDisposable {
  /** Resolves when the controller works and has received the initial objects. */
  readonly started: Promise<unknown>;
}
