import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type AuthorizeRequest, type Authorizer, type Identity, User } from "@virtual-workspaces/framework";
import type { CacheEvent, CacheListener, ReadableCache } from "@virtual-workspaces/framework/storage";
import { type ClusterSet, EVERY_CLUSTER } from "./cluster-set.ts";

/** A list over all logical clusters to authorize: attributes of the request, and path parameters besides the logical cluster. */
export type ListQuestion = Omit<AuthorizeRequest, "user" | "signal" | "verb">;

/** Options of {@link Readers}. */
export interface ReadersOptions {
  /** Rule of the source. */
  readonly authorize: () => Authorizer;
  /** Interval at which a reader's rights are checked again, in ms. */
  readonly every: number;
}

/** Signal of checks, which several requests may wait for. */
const NEVER = new AbortController().signal;
/** Longest blocking of other work, in milliseconds. */
const SLICE = 5;

/** Character after the slash behind the logical cluster in the keys of a cache. */
const AFTER_SLASH = "0";

/** Logical clusters that have, or had, objects in a cache. */
class ClusterNames implements CacheListener {
  readonly names: Set<string> = new Set();
  readonly #cache: ReadableCache;
  readonly #listeners = new Set<() => void>();

  constructor(cache: ReadableCache) {
    this.#cache = cache;
    cache.listen(this);
    this.#read();
  }

  /** Notifies of further logical clusters. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  event({ key: { cluster } }: CacheEvent): void {
    if (this.names.has(cluster)) return;
    this.names.add(cluster);
    for (const listener of this.#listeners) listener();
  }

  expired(): void {
    this.names.clear();
    this.#read();
  }

  /** Reads one key of each logical cluster. */
  #read(): void {
    const { objects } = this.#cache.snapshot();
    for (let from = ""; ; ) {
      const [first] = objects.entries(from);
      if (first === undefined) return;
      const { cluster } = first[1].key;
      this.names.add(cluster);
      from = `${cluster}${AFTER_SLASH}`;
    }
  }
}

interface ReaderOptions extends ReadersOptions {
  readonly user: User;
  readonly question: ListQuestion;
  readonly names: ClusterNames;
  readonly cache: ReadableCache;
}

/** Time for which the rights of a user who no longer reads are kept, in ms: a watch from before that cannot be resumed. */
const KEPT = 300_000;

/**
 * Rights of one user on one resource: the logical clusters in which the source allows the user to list it. Security: they are
 * at most `every` ms old, a logical cluster that is not known yet is not in the set, and one whose rule throws is not either.
 */
class Reader {
  readonly #options: ReadersOptions;
  readonly #user: User;
  readonly #question: ListQuestion;
  readonly #names: ClusterNames;
  readonly #cache: ReadableCache;
  readonly #listeners = new Set<() => void>();
  #set: CheckedRights | undefined;
  #checked = 0;
  #known = 0;
  #checking: Promise<CheckedRights> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #following: Disposable | undefined;

  constructor({ user, question, names, cache, ...options }: ReaderOptions) {
    this.#options = options;
    this.#user = user;
    this.#question = question;
    this.#names = names;
    this.#cache = cache;
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0 && Date.now() - this.#checked > Math.max(KEPT, this.#options.every);
  }

  /** Returns the rights, checked recently. */
  current(): Promise<CheckedRights> | CheckedRights {
    const isNew = Date.now() - this.#checked <= this.#options.every && this.#known === this.#names.names.size;
    return this.#set !== undefined && isNew ? this.#set : this.#again();
  }

  /** Notifies when the set is no longer the one that the caller got. */
  listen(listener: () => void): Disposable {
    this.#listeners.add(listener);
    this.#following ??= this.#names.listen(() => void this.#again());
    this.#timer ??= setInterval(() => void this.#again(), this.#options.every).unref();
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size > 0) return;
        clearInterval(this.#timer);
        this.#following?.[Symbol.dispose]();
        this.#timer = undefined;
        this.#following = undefined;
      },
    };
  }

  /** Checks again, once for all who wait. */
  #again(): Promise<CheckedRights> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<CheckedRights> {
    const began = Date.now();
    const before = this.#set;
    const known = this.#names.names.size;
    const all = await this.#allows("*", "list");
    const now = all
      ? { clusters: EVERY_CLUSTER, mayWatch: await this.#allows("*", "watch") }
      : await this.#allowed([...this.#names.names]);
    this.#checked = began;
    this.#known = known;
    const isSame = before?.clusters.text === now.clusters.text && before.mayWatch === now.mayWatch;
    if (before !== undefined && isSame) return before;
    const set = { ...now, since: this.#cache.head, isShown: false };
    this.#set = set;
    if (before !== undefined) for (const listener of [...this.#listeners]) listener();
    return set;
  }

  async #allowed(clusters: readonly string[]): Promise<Omit<CheckedRights, "since" | "isShown">> {
    const allowed = new Set<string>();
    let mayWatch = true;
    let began = performance.now();
    for (const cluster of clusters) {
      if (await this.#allows(cluster, "list")) {
        allowed.add(cluster);
        mayWatch &&= await this.#allows(cluster, "watch");
      }
      if (performance.now() - began < SLICE) continue;
      await nextTurn();
      began = performance.now();
    }
    const text = createHash("sha256")
      .update([...allowed].sort().join("\n"))
      .digest("base64url");
    return { clusters: { has: (cluster) => allowed.has(cluster), text }, mayWatch };
  }

  async #allows(cluster: string, verb: "list" | "watch"): Promise<boolean> {
    const params = { ...this.#question.params, cluster };
    try {
      const decision = this.#options.authorize()({ ...this.#question, verb, params, user: this.#user, signal: NEVER });
      return (decision instanceof Promise ? await decision : decision).allowed === true;
    } catch {
      return false;
    }
  }
}

/** Rights of a user on a resource of all logical clusters. */
export interface CheckedRights {
  /** Logical clusters in which the user may list. */
  readonly clusters: ClusterSet;
  /** Whether the user may watch in all of them. */
  readonly mayWatch: boolean;
  /**
   * Version of the cache since which these are the user's rights. Security: what the user was shown at an earlier version is
   * unknown, so no watch can continue from there.
   */
  readonly since: string;
  /** Whether the user has been shown objects with these rights: only then can a watch continue from {@link since} itself. */
  isShown: boolean;
}

/** A user's rights, and a notification of changes. */
export interface ReaderRights {
  readonly rights: CheckedRights;
  /** Calls `changed` once these are no longer the user's rights. */
  readonly listen: (changed: () => void) => Disposable;
}

/** Rights of all users who have read lately. Memory: a reference for each of a reader's logical clusters. */
export class Readers {
  readonly #options: ReadersOptions;
  readonly #names = new WeakMap<
    ReadableCache,
    { readonly names: ClusterNames; readonly readers: Map<string, Reader> }
  >();

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  /** Returns in which logical clusters of a cache a user may list. */
  async rightsOf(identity: Identity, question: ListQuestion, cache: ReadableCache): Promise<ReaderRights> {
    let known = this.#names.get(cache);
    if (known === undefined) {
      known = { names: new ClusterNames(cache), readers: new Map() };
      this.#names.set(cache, known);
    }
    const { name, uid, groups, extra } = identity;
    const key = JSON.stringify([name, uid, [...groups].sort(), extra, question.params, question.path]);
    let reader = known.readers.get(key);
    if (reader === undefined) {
      for (const [other, { isIdle }] of known.readers) if (isIdle) known.readers.delete(other);
      reader = new Reader({ ...this.#options, user: new User(identity), question, names: known.names, cache });
      known.readers.set(key, reader);
    }
    const of = reader;
    const rights = await of.current();
    return { rights, listen: (changed) => of.listen(changed) };
  }
}
