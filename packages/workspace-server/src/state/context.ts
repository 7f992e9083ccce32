import type { Log } from "@virtual-workspaces/framework/server";
import type { ObjectFeed } from "@virtual-workspaces/store";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardUrls } from "../shard-urls.ts";
import type { TokenMinter } from "../tokens/minter.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardRegistry } from "./shard-registry.ts";
import type { ShardState } from "./shard-state.ts";
import type { KindsOfClusters } from "./stored-kinds.ts";

/** What the controllers and the serving of one shard share. */
export interface ShardContext {
  readonly name: string;
  readonly urls: ShardUrls;
  /** Its collections, to write to. */
  readonly objects: ShardObjects;
  /** Informers over them, to read. */
  readonly state: ShardState;
  /** All shards. */
  readonly registry: ShardRegistry;
  /** Who may do what there. */
  readonly authorizer: ShardAuthorizer;
  /** What is served in each logical cluster, and where it is kept. */
  readonly kinds: KindsOfClusters;
  /** Tells of all objects of the shard, as bytes. It begins when all controllers are made. */
  readonly feed: ObjectFeed;
  /** PEM by which clients trust the server, as it is now. */
  readonly rootCa: () => string;
  /** Makes tokens of service accounts. */
  readonly minter: TokenMinter;
  /** Whether workspaces may be mounted. @default true */
  readonly mounts?: boolean;
  readonly log: Log;
  /** The views of its own listener. */
  readonly services: OwnServices | undefined;
}

/** A controller of a shard, or several. */
export interface ShardController extends AsyncDisposable {
  /** Resolves once it is at work. What is there was told before. */
  readonly started: Promise<unknown>;
}
