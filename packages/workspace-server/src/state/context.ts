import type { Log } from "@virtual-workspaces/framework";
import type { ObjectFeed } from "@virtual-workspaces/store";
import type { ShardAuthorizer } from "../authz/authorizer.ts";
import type { TokenMinter } from "../tokens/minter.ts";
import type { OwnServices } from "../loopback/own-services.ts";
import type { ShardRegistry } from "./shard-registry.ts";
import type { ShardObjects } from "./objects.ts";
import type { ShardState } from "./shard-state.ts";
import type { KindsOfClusters } from "./stored-kinds.ts";

/** How a shard is reached (`Shard.spec`), without trailing slashes. */
export interface ShardUrls {
  /** By other shards and the front proxy. */
  readonly baseURL: string;
  /** By users: workspaces say that they are there. */
  readonly externalURL: string;
  /** Where its virtual workspaces are. */
  readonly virtualWorkspaceURL: string;
}

/** What the parts of a shard have to do with. */
export interface ShardContext {
  readonly name: string;
  readonly urls: ShardUrls;
  /** Its collections, to write to. */
  readonly objects: ShardObjects;
  /** What is followed of them, to read. */
  readonly state: ShardState;
  /** All shards. */
  readonly registry: ShardRegistry;
  /** Who may do what there. */
  readonly authorizer: ShardAuthorizer;
  /** What is served in each logical cluster, and where it is kept. */
  readonly kinds: KindsOfClusters;
  /** Tells of all objects of the shard, as bytes. It begins when all parts are made. */
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

/** Something that keeps objects of a shard right: a controller, or several. */
export interface ShardController extends AsyncDisposable {
  /** Resolves once it is at work. What is there was told before. */
  readonly started: Promise<unknown>;
}
