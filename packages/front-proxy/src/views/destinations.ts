import { ApiError, forbiddenFor } from "@virtual-workspaces/apimachinery";
import type { User } from "@virtual-workspaces/framework";
import type { Located } from "@virtual-workspaces/framework/resource";
import type { FoundMount, Lookup, PathIndex, UnreachableWorkspace } from "@virtual-workspaces/kcp/path-index";
import { isUnknownCaller } from "../callers.ts";
import type { Route } from "../forwarding/route.ts";
import type { Routes } from "../forwarding/routes.ts";
import type { ShardServers } from "../forwarding/shard-servers.ts";
import type { TargetServer } from "../forwarding/target-server.ts";
import type { Shards } from "../shards/shards.ts";

/** Where a request goes, and what its path begins with there. */
export interface Destination {
  readonly server: TargetServer | Route;
  readonly prefix: string;
}

/** What finds places. */
export interface DestinationsOptions {
  readonly shards: Shards;
  readonly servers: ShardServers;
  readonly routes: Routes;
}

/** Through how many mounts a path may lead that are links to one another. */
const DEPTH = 8;
const SYSTEM = "system:";
const WORKSPACE = /^\/clusters\/([^/]+)(\/.*)?$/;

type Params = Readonly<Record<string, string>>;

/** Where what is below `/clusters` is: logical clusters on shards, and what workspaces are mounted on. */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #index: PathIndex;
  /** How many requests were for paths that lead nowhere, by why; what clients are not told of it. */
  readonly refused: Record<UnreachableWorkspace["kind"], number> = { unknown: 0, pending: 0, gone: 0 };

  constructor(options: DestinationsOptions) {
    this.#options = options;
    this.#index = options.shards.index;
  }

  /** As `locate` of a view. @throws ApiError 403 for what leads nowhere, 503 while that may only be unknown, or is not available */
  locate(said: string, user: User): string | Located {
    const found = this.#found(said, user);
    if (found.kind === "cluster") return found.cluster;
    const { cluster, name } = found.workspace;
    return { cluster, params: { mount: name, below: found.rest } };
  }

  /** Where a request that was located goes. @throws ApiError as {@link locate} does */
  of(params: Params, user: User): Destination {
    const { cluster = "", mount, below = "" } = params;
    if (mount === undefined) return this.#onShard(this.#index.shardOf(cluster), `/clusters/${cluster}`, user);
    const found = this.#found(`${cluster}:${mount}`, user);
    return found.kind === "mount" ? this.#mounted(found, below, user) : this.of({ cluster: found.cluster }, user);
  }

  #found(said: string, user: User): Extract<Lookup, { kind: "cluster" | "mount" }> {
    // Each shard has its own of these, which kcp's front proxy does not know either.
    const found = said.startsWith(SYSTEM) ? undefined : this.#index.lookup(said);
    if (found?.kind === "cluster" || found?.kind === "mount") return found;
    if (found?.kind === "unavailable") throw ApiError.serviceUnavailable(found.reason);
    if (found !== undefined && !this.#options.shards.isWhole)
      throw ApiError.serviceUnavailable("not all shards have been asked yet what workspaces they have: try again", 1);
    const kind = found?.kind ?? "unknown";
    this.refused[kind] += 1;
    // A moment later it is there: clients come again by themselves. What was there, and what never was, is one to whom it is not shown.
    if (kind === "pending" && !isUnknownCaller(user)) throw ApiError.serviceUnavailable(found?.reason ?? "", 1);
    throw nowhere(user);
  }

  #onShard(shard: string | undefined, prefix: string, user: User): Destination {
    const server = shard === undefined ? undefined : this.#options.servers.of({ shard });
    if (server === undefined) throw nowhere(user);
    return { server, prefix };
  }

  /**
   * A workspace of this installation, or what is behind another path, wherever the URL's host is, as in kcp. Elsewhere the shard asks that has
   * the Workspace: which hosts it may ask, and whom it trusts there, is its own affair.
   */
  #mounted(found: FoundMount, below: string, user: User): Destination {
    const { cluster, name, shard } = found.workspace;
    const own = below === "" ? this.#within(found.url, user, DEPTH) : undefined;
    return own ?? this.#onShard(shard, `/clusters/${cluster}:${name}${below === "" ? "" : `:${below}`}`, user);
  }

  #within(text: string, user: User, depth: number): Destination | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username + url.password !== "") return undefined;
    const path = url.pathname.replace(/\/+$/, "");
    const [, workspace, rest = ""] = WORKSPACE.exec(path) ?? [];
    if (path.includes("%")) return undefined; // for whoever reads it the same way as its author
    if (workspace === undefined) return this.#mapped(path);
    if (!this.#options.shards.isOwn(url.origin)) return undefined;
    const found = this.#found(workspace, user);
    if (found.kind === "cluster") return this.#onShard(found.shard, `/clusters/${found.cluster}${rest}`, user);
    if (depth === 0 || found.rest !== "" || rest !== "") return undefined;
    return this.#within(found.url, user, depth - 1);
  }

  #mapped(path: string): Destination | undefined {
    const server = this.#options.routes.of(path);
    // What has the rest says nothing of a path in particular.
    return server === undefined || server.segments.length === 0 ? undefined : { server, prefix: path };
  }
}

/** In words that do not say whether there is such a workspace, as kcp's front proxy answers. */
function nowhere({ name }: User): ApiError {
  return forbiddenFor({ user: name, verb: "access", path: "/", reason: "workspace access not permitted" });
}
