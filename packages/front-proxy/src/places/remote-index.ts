import type { Authenticator } from "@virtual-workspaces/framework";
import { bearerTokens, type JwtSettings, type TokenVerdict } from "@virtual-workspaces/framework/authn";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { WorkspaceAuthentication } from "@virtual-workspaces/kcp/authentication";
import { isOwnOrigin, type ShardURLs } from "../shards/shards.ts";
import type { FromIndex, Issuers, ToIndex } from "./messages.ts";
import { namesIn } from "./names.ts";
import { type Awaitable, after, type Place, type Places } from "./places.ts";

/** Options of {@link RemoteIndex}. */
export interface RemoteIndexOptions {
  /** Sends a message to the process of the index, in order. */
  readonly send: (message: ToIndex) => void;
}

/**
 * The index of another process, a {@link SharedIndex}, for the option `shards` of a front proxy. Keeps the last 10,000 places; the other
 * process sends what changes, so that an answer outlives a change by one message at most. Paths that lead nowhere are not kept.
 *
 * Security: it believes what it receives. Connect it to a process of the same program only.
 */
export class RemoteIndex {
  readonly #send: RemoteIndexOptions["send"];
  readonly #kept = new KeptPlaces();
  readonly #issuers = new Map<string, Issuers>();
  readonly #pending = new Map<number, (message: FromIndex) => void>();
  readonly #lookups = new Map<string, Promise<Place>>();
  readonly #connected = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<void>();
  #shards: ReadonlyMap<string, ShardURLs> = new Map();
  #isStarted = false;
  #last = 0;
  /** Called for a shard that is added, removed, or changes its URL. */
  changed: (shard: string) => void = () => undefined;

  constructor({ send }: RemoteIndexOptions) {
    this.#send = send;
    this.#started.promise.catch(() => undefined);
  }

  /** Resolves when the shards have been received. */
  get connected(): Promise<void> {
    return this.#connected.promise;
  }

  /** Resolves when the other process has read the shards. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Whether the other process has read the shards. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Receives a message of the other process. */
  receive(message: FromIndex): void {
    if (message.type === "changed") this.#kept.changed(message.names);
    else if (message.type === "types") this.#issuers.clear();
    else if (message.type === "shards") this.#setShards(message);
    else {
      const answer = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      answer?.(message);
    }
  }

  /** Returns the place of a path: at once if it is kept. */
  lookup(path: string): Awaitable<Place> {
    return this.#kept.get(path) ?? this.#lookups.get(path) ?? this.#lookUp(path);
  }

  /** Returns the token issuers of a workspace type. */
  issuers(type: string): Awaitable<Issuers> {
    return this.#issuers.get(type) ?? this.#askIssuers(type);
  }

  /** Returns the URL of a shard. */
  shardURL(shard: string): string | undefined {
    return this.#shards.get(shard)?.baseURL;
  }

  /** Whether an origin belongs to a shard. */
  isOwn(origin: string): boolean {
    return isOwnOrigin(this.#shards.values(), origin);
  }

  /** Ends the requests that wait for answers. */
  close(): void {
    this.#started.reject(new Error("the connection to the index was closed"));
  }

  #lookUp(path: string): Promise<Place> {
    const { promise, resolve } = Promise.withResolvers<Place>();
    this.#lookups.set(path, promise);
    this.#ask(
      (id) => ({ type: "lookup", id, path }),
      (message) => {
        if (message.type !== "place") return;
        const { place } = message;
        this.#lookups.delete(path);
        // Kept here, not by the waiting request: a change may be the next message.
        if (place.kind === "cluster" || place.kind === "mount") this.#kept.set(path, place);
        if (place.kind === "cluster") this.#kept.set(place.cluster, place);
        resolve(place);
      },
    );
    return promise;
  }

  #askIssuers(type: string): Promise<Issuers> {
    const { promise, resolve } = Promise.withResolvers<Issuers>();
    this.#ask(
      (id) => ({ type: "issuers", id, of: type }),
      (message) => {
        if (message.type !== "issuers") return;
        if (this.#issuers.size >= MOST_TYPES) this.#issuers.clear();
        this.#issuers.set(type, message.issuers);
        resolve(message.issuers);
      },
    );
    return promise;
  }

  #ask(message: (id: number) => ToIndex, answer: (message: FromIndex) => void): void {
    const id = ++this.#last;
    this.#pending.set(id, answer);
    this.#send(message(id));
  }

  #setShards({ shards, isStarted }: FromIndex & { readonly type: "shards" }): void {
    const before = this.#shards;
    this.#shards = new Map(shards.map((one) => [one.name, one]));
    this.#kept.clear();
    this.#isStarted = isStarted;
    for (const name of new Set([...before.keys(), ...this.#shards.keys()]))
      if (before.get(name)?.baseURL !== this.#shards.get(name)?.baseURL) this.changed(name);
    this.#connected.resolve();
    if (isStarted) this.#started.resolve();
  }
}

/** Number of workspace types whose issuers are kept. */
const MOST_TYPES = 1_000;

/** Number of paths to keep, in about 5 MB. */
const MOST_PATHS = 10_000;

/** Known places by path, the most recently used ones, until one of the names in their paths changes. */
class KeptPlaces {
  /** In the order of use. */
  readonly #places = new Map<string, Place>();
  readonly #paths = new Map<string, Set<string>>();

  get(path: string): Place | undefined {
    const place = this.#places.get(path);
    if (place === undefined) return undefined;
    this.#places.delete(path);
    this.#places.set(path, place);
    return place;
  }

  set(path: string, place: Place): void {
    this.#places.delete(path);
    this.#places.set(path, place);
    for (const name of namesIn(path)) {
      const paths = this.#paths.get(name);
      if (paths === undefined) this.#paths.set(name, new Set([path]));
      else paths.add(path);
    }
    const [oldest] = this.#places.size > MOST_PATHS ? this.#places.keys() : [];
    if (oldest !== undefined) this.#delete(oldest);
  }

  /** Forgets the paths with one of the names. */
  changed(names: readonly string[]): void {
    for (const name of names) for (const path of [...(this.#paths.get(name) ?? [])]) this.#delete(path);
  }

  clear(): void {
    this.#places.clear();
    this.#paths.clear();
  }

  #delete(path: string): void {
    this.#places.delete(path);
    for (const name of namesIn(path)) {
      const paths = this.#paths.get(name);
      paths?.delete(path);
      if (paths?.size === 0) this.#paths.delete(name);
    }
  }
}

/** Places in the index of another process. */
export class RemotePlaces implements Places {
  readonly #index: RemoteIndex;
  readonly #authentication: WorkspaceAuthentication | undefined;

  /** @param settings of tokens; `undefined` if workspace types do not authenticate users */
  constructor(index: RemoteIndex, settings: JwtSettings | undefined, changed: (shard: string) => void) {
    this.#index = index;
    this.#authentication = settings && new WorkspaceAuthentication(settings);
    index.changed = changed;
  }

  get started(): Promise<void> {
    return this.#index.started;
  }

  check(): void {
    if (!this.#index.isStarted) throw new Error("the shards have not been read yet");
  }

  lookup(path: string): Awaitable<Place> {
    return this.#index.lookup(path);
  }

  shardOf(cluster: string): Awaitable<string | undefined> {
    return after(this.#index.lookup(cluster), (place) => (place.kind === "cluster" ? place.shard : undefined));
  }

  shardURL(shard: string): string | undefined {
    return this.#index.shardURL(shard);
  }

  isOwn(origin: string): boolean {
    return this.#index.isOwn(origin);
  }

  logins(path: string): readonly Authenticator[] {
    const authentication = this.#authentication;
    if (authentication === undefined) return [];
    const verify = async (token: string): Promise<TokenVerdict | undefined> => {
      const place = await this.#index.lookup(path);
      if (place.kind !== "cluster" || place.type === undefined) return undefined;
      const logins = authentication.with(place.cluster, await this.#index.issuers(place.type));
      const user = await logins?.authenticateToken(token);
      return user && { user };
    };
    return [bearerTokens({ name: "workspace", verify, remember: 0 })];
  }

  families(): readonly MetricFamily[] {
    return []; // the process of the index has them
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#index.close();
  }
}
