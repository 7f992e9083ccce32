import { isApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { ResourceClient } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { ListAndWatch, type NextAttempt } from "@virtual-workspaces/transport";
import { clusterOf } from "../names/names.ts";

/** Options of {@link WatchedPlace}. */
export interface WatchedPlaceOptions {
  /** Client for the metadata of a resource, in one logical cluster or in all of a shard (`*`). */
  readonly resource: ResourceClient;
  /** Called with the holder of an object that may have changed. */
  readonly changed: (holder: string) => void;
  /** Receives failures, once for each message until the watch works again. */
  readonly onError: (error: unknown) => void;
}

/** Duration of a watch, in s. */
const RENEWED = 60;
/** Time without data after which a watch counts as dead, in ms. */
const IDLE = (RENEWED + 5) * 1000;
const BACKOFF = { first: 200, most: 5_000 } as const;
/** Status codes for a missing kind or workspace. kcp answers 403 for a missing workspace. */
const ABSENT: readonly number[] = [403, 404];

type Change = Awaited<ReturnType<ReturnType<ResourceClient["watch"]>["next"]>>["value"] & object;

/**
 * One watch of the metadata of a resource, which reports changes of some of its objects. It keeps no object: memory is some hundred
 * bytes for each held one, however many there are.
 */
export class WatchedPlace implements AsyncDisposable {
  readonly #options: WatchedPlaceOptions;
  /** Holders of each object. */
  readonly #held = new Map<string, Set<string>>();
  readonly #reported = new Set<string>();
  #watch: ListAndWatch<string, Change, string> | undefined;
  #position: string | undefined;
  #state: "unwatched" | "opening" | "open" | "closed" = "unwatched";

  constructor(options: WatchedPlaceOptions) {
    this.#options = options;
  }

  /** Whether objects are held. */
  get isUsed(): boolean {
    return this.#held.size > 0;
  }

  /**
   * State of the watch. `opening`: its objects are reported soon. `open`: it reports every change, also while it is interrupted.
   * `closed`: the kind or the workspace is missing, or the server cannot be read.
   */
  get state(): "unwatched" | "opening" | "open" | "closed" {
    return this.#state;
  }

  /** Reports changes of an object to a holder. */
  hold(object: ObjectKey, holder: string): void {
    const text = this.#textOf(object);
    const holders = this.#held.get(text) ?? new Set();
    this.#held.set(text, holders.add(holder));
  }

  /** Ends {@link hold}. */
  release(object: ObjectKey, holder: string): void {
    const text = this.#textOf(object);
    const holders = this.#held.get(text);
    holders?.delete(holder);
    if (holders?.size === 0) this.#held.delete(text);
  }

  /** Starts the watch. All held objects are reported when it is open, and when it cannot be opened. */
  start(): void {
    if (this.#watch !== undefined) return;
    this.#state = "opening";
    const { resource } = this.#options;
    // One object has the version of all.
    const versionNow = async (signal: AbortSignal): Promise<string> =>
      (await resource.list({ limit: 1, signal })).metadata.resourceVersion ?? "";
    this.#watch = new ListAndWatch<string, Change, string>(
      {
        position: () => this.#position,
        list: versionNow,
        replace: (version) => this.#opened(version),
        watch: (resourceVersion, signal) =>
          resource.watch({ resourceVersion, timeoutSeconds: RENEWED, idle: IDLE, signal }),
        apply: (change) => this.#apply(change),
        answered: () => this.#reported.clear(),
        isStale: async (position, signal) => isBefore(await versionNow(signal), position),
        failed: (error) => this.#failed(error),
      },
      BACKOFF,
    );
    this.#watch.start();
  }

  /** Reports a failure to read an object. */
  report(error: unknown): void {
    const message = String(error);
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#options.onError(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
  }

  #opened(version: string): void {
    this.#position = version;
    this.#state = "open";
    this.#all();
  }

  #apply({ type, object }: Change): boolean {
    const { name = "", namespace = "", resourceVersion } = object.metadata;
    this.#position = resourceVersion ?? this.#position;
    if (type === "BOOKMARK") return true;
    const holders = this.#held.get(this.#textOf({ cluster: clusterOf(object), namespace, name }));
    for (const holder of holders ?? []) this.#options.changed(holder);
    return true;
  }

  #failed(error: unknown): NextAttempt {
    const code = isApiError(error) ? error.code : 0;
    const isGone = ABSENT.includes(code);
    if (!isGone && code !== 410) this.report(error);
    // An open watch that was interrupted resumes, and misses nothing.
    const isLost = isGone || code === 410 || (code >= 400 && code < 500 && code !== 429);
    const before = this.#state;
    if (before !== "open" || isLost) this.#state = "closed";
    // Its objects are read without a watch, such as where the server allows no watch of all logical clusters.
    if (before === "opening" || (isGone && before === "open")) this.#all();
    return isLost ? "relist" : "resume";
  }

  #all(): void {
    for (const holders of [...this.#held.values()]) for (const holder of holders) this.#options.changed(holder);
  }

  /** A watch of one logical cluster may have its path, and the objects its name. */
  #textOf({ cluster, ...object }: ObjectKey): string {
    return keyText({ ...object, cluster: this.#options.resource.cluster === "*" ? cluster : "" });
  }
}

/** Whether a version is older than another one, as after a restore. Versions that are no numbers cannot be compared. */
function isBefore(one: string, other: string): boolean {
  return /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);
}
