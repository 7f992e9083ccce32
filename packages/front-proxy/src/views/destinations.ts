import { ApiError, forbiddenFor } from "@virtual-workspaces/apimachinery";
import type { User } from "@virtual-workspaces/framework";
import type { Located } from "@virtual-workspaces/framework/resource";
import type { UnreachableWorkspace } from "@virtual-workspaces/kcp/path-index";
import { isUnknownCaller } from "../callers.ts";
import type { Route } from "../forwarding/route.ts";
import type { Routes } from "../forwarding/routes.ts";
import type { ShardServers } from "../forwarding/shard-servers.ts";
import type { TargetServer } from "../forwarding/target-server.ts";
import { type AbsentPlace, type Awaitable, after, type Place, type Places } from "../places/places.ts";

/** Target of a request, with the path prefix there. */
export interface Destination {
  readonly server: TargetServer | Route;
  readonly prefix: string;
}

/** Options of {@link Destinations}. */
export interface DestinationsOptions {
  readonly places: Places;
  readonly servers: ShardServers;
  readonly routes: Routes;
}

/** Maximum number of mounts in a chain of links. */
const DEPTH = 8;
const SYSTEM = "system:";
const WORKSPACE = /^\/clusters\/([^/]+)(\/.*)?$/;

type Found = Extract<Place, { kind: "cluster" | "mount" }>;
type FoundMount = Extract<Place, { kind: "mount" }>;
type Params = Readonly<Record<string, string>>;

/** Finds the targets of paths below `/clusters`: logical clusters on shards, and targets of mounted workspaces. */
export class Destinations {
  readonly #options: DestinationsOptions;
  readonly #places: Places;
  /** Number of requests for paths without a workspace, by reason. Clients do not learn the reason. */
  readonly refused: Record<UnreachableWorkspace["kind"], number> = { unknown: 0, pending: 0, gone: 0 };

  constructor(options: DestinationsOptions) {
    this.#options = options;
    this.#places = options.places;
  }

  /** Implements `locate`. @throws ApiError 403 without a workspace, 503 if it is unavailable or some shards have not been read */
  locate(said: string, user: User): Awaitable<string | Located> {
    return after(this.#found(said, user), (found) => {
      if (found.kind === "cluster") return found.cluster;
      const { cluster, name } = found.workspace;
      return { cluster, params: { mount: name, below: found.rest } };
    });
  }

  /** Returns the target of a located request. @throws ApiError as {@link locate} does */
  of(params: Params, user: User): Awaitable<Destination> {
    const { cluster = "", mount, below = "" } = params;
    if (mount === undefined)
      return after(this.#places.shardOf(cluster), (shard) => this.#onShard(shard, `/clusters/${cluster}`, user));
    return after(this.#found(`${cluster}:${mount}`, user), (found) =>
      found.kind === "mount" ? this.#mounted(found, below, user) : this.of({ cluster: found.cluster }, user),
    );
  }

  #found(said: string, user: User): Awaitable<Found> {
    // Every shard has its own system clusters, and kcp's front proxy does not serve them either.
    if (said.startsWith(SYSTEM)) throw this.#absence({ kind: "unknown", reason: "" }, user);
    return after(this.#places.lookup(said), (place) => this.#checked(place, user));
  }

  #checked(place: Place, user: User): Found {
    if (place.kind === "cluster" || place.kind === "mount") return place;
    if (place.kind === "unavailable") throw ApiError.serviceUnavailable(place.reason);
    throw this.#absence(place, user);
  }

  #absence({ kind, reason }: AbsentPlace, user: User): ApiError {
    if (kind === "unread") return ApiError.serviceUnavailable(reason, 1);
    this.refused[kind] += 1;
    // Ready in a moment: clients retry by themselves. Security: callers must not learn whether a workspace was deleted or
    // never existed.
    if (kind === "pending" && !isUnknownCaller(user)) return ApiError.serviceUnavailable(reason, 1);
    return nowhere(user);
  }

  #onShard(shard: string | undefined, prefix: string, user: User): Destination {
    const server = shard === undefined ? undefined : this.#options.servers.of(shard);
    if (server === undefined) throw nowhere(user);
    return { server, prefix };
  }

  /**
   * Resolves a mount on a workspace of this system, or on another mapped path whatever the URL's host, as in kcp. All others
   * go to the shard of the Workspace, which decides which hosts it may contact and trust.
   */
  #mounted(found: FoundMount, below: string, user: User): Awaitable<Destination> {
    const { cluster, name, shard } = found.workspace;
    const own = below === "" ? this.#within(found.url, user, DEPTH) : undefined;
    return after(
      own,
      (within) =>
        within ?? this.#onShard(shard, `/clusters/${cluster}:${name}${below === "" ? "" : `:${below}`}`, user),
    );
  }

  #within(text: string, user: User, depth: number): Awaitable<Destination | undefined> {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username + url.password !== "") return undefined;
    const path = url.pathname.replace(/\/+$/, "");
    const [, workspace, rest = ""] = WORKSPACE.exec(path) ?? [];
    if (path.includes("%")) return undefined; // Only URLs that every reader parses alike.
    if (workspace === undefined) return this.#mapped(path);
    if (!this.#places.isOwn(url.origin)) return undefined;
    return after(this.#found(workspace, user), (found): Awaitable<Destination | undefined> => {
      if (found.kind === "cluster") return this.#onShard(found.shard, `/clusters/${found.cluster}${rest}`, user);
      if (depth === 0 || found.rest !== "" || rest !== "") return undefined;
      return this.#within(found.url, user, depth - 1);
    });
  }

  #mapped(path: string): Destination | undefined {
    const server = this.#options.routes.of(path);
    // The mapping of `/` names no particular path.
    return server === undefined || server.segments.length === 0 ? undefined : { server, prefix: path };
  }
}

/** Security: the words of kcp's front proxy, which do not reveal whether the workspace exists. */
function nowhere({ name }: User): ApiError {
  return forbiddenFor({ user: name, verb: "access", path: "/", reason: "workspace access not permitted" });
}
