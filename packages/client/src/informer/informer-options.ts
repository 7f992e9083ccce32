import type { ObjectKey, ObjectOf, StoredObject } from "@virtual-workspaces/apimachinery";
import { type BackoffOptions, LONGEST_TIMER } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource/resource-client.ts";
import type { Indexer } from "./store.ts";

/** Exception thrown by a handler, transform or indexer of an informer. */
export interface InformerProblem {
  /** Callback that threw. */
  readonly during: "added" | "updated" | "deleted" | "lifecycle" | "transform" | "indexer" | "onError";
  /** Key of the affected object. */
  readonly key?: ObjectKey;
}

/** Options of an informer's list and watch. */
export interface ReflectorOptions {
  /** Label selector, as in `kubectl -l`. @default all objects */
  readonly labels?: string;
  /** Field selector, as in `kubectl --field-selector`. @default all objects */
  readonly fields?: string;
  /** Interval at which watches are renewed, in seconds: the `timeoutSeconds` of each request. @default 10 */
  readonly renewEvery?: number;
  /**
   * Time without data after which a watch counts as dead, in ms. Must exceed `renewEvery`, because a watch without changes is
   * silent until its renewal.
   * @default 3 s above `renewEvery`
   */
  readonly idle?: number;
  /**
   * Time without new objects after which a list by watch (WatchList) counts as unsupported, in ms. Servers that do not know
   * the request stay silent; the informer then lists in pages. The whole list may take 12 times as long.
   * @default 5000
   */
  readonly initialDeadline?: number;
  /** Number of objects per page. @default 500 */
  readonly pageSize?: number;
  /** Kind of lists. @default the kind followed by `List` */
  readonly listKind?: string;
  /** Backoff after failures. */
  readonly backoff?: Pick<BackoffOptions, "first" | "most">;
  /**
   * Time during which a server with older versions than before counts as a lagging replica, in ms. After that the informer
   * accepts its state, as of a server that was restored from a backup or replaced.
   * @default 60000
   */
  readonly rewindAfter?: number;
}

/** Options of an {@link Informer}. */
export interface InformerOptions<T extends object> extends ReflectorOptions {
  /** Objects to watch: `client.resource(Kind)`, in one or all namespaces, in one logical cluster or `*`. */
  readonly resource: ResourceClient<T>;
  /**
   * Reduces each object before it is stored, to save memory, such as {@link withoutManagedFields}. It may modify its
   * argument, and keeps the name. If it throws, the whole object is stored.
   * @default objects are stored unchanged
   */
  readonly transform?: (object: StoredObject<T>) => ObjectOf<T>;
  /** Indexers of the store, in addition to names. */
  readonly indexers?: Readonly<Record<string, Indexer<StoredObject<T>>>>;
  /**
   * Called when the informer cannot read: once for each reason, while it retries (client-go: `WatchErrorHandler`). The message
   * has the URL, the reason and a remedy, and `cause` is the error of the attempt. A 429 with `Retry-After` counts once the
   * server has asked to wait for ten seconds in all. A handler for `lifecycle` events receives every attempt. Security: the message never has a credential or a query.
   *
   * @default `onError` of the controllers that use the informer. Without one, and without a handler for `lifecycle` events, a
   * process warning, and another one when the informer reads again
   */
  readonly onError?: (error: Error) => void;
  /** Called for exceptions of handlers and of the functions above. @default a process warning */
  readonly onProblem?: (error: Error, problem: InformerProblem) => void;
}

/** Transform that removes `managedFields`, which often are half of an object and rarely read. */
export function withoutManagedFields<T>(object: StoredObject<T>): StoredObject<T> {
  delete object.metadata.managedFields;
  return object;
}

/** @throws Error that names an invalid option */
export function checkOptions(options: ReflectorOptions): void {
  const { renewEvery = 10, idle = renewEvery * 1000 + 3000, initialDeadline = 5000, pageSize = 500, backoff } = options;
  within({ renewEvery }, [1, 3600]);
  within({ idle }, [renewEvery * 1000 + 1, LONGEST_TIMER]);
  within({ initialDeadline }, [1, LONGEST_TIMER]);
  within({ pageSize }, [1, 100_000]);
  within({ rewindAfter: options.rewindAfter ?? 0 }, [0, LONGEST_TIMER]);
  within({ "backoff.first": backoff?.first ?? 250 }, [1, LONGEST_TIMER]);
  within({ "backoff.most": backoff?.most ?? 5000 }, [1, LONGEST_TIMER]);
}

function within(option: Readonly<Record<string, number>>, [least, most]: readonly [number, number]): void {
  for (const [name, value] of Object.entries(option))
    if (!(value >= least && value <= most))
      throw new Error(`invalid ${name} of an informer: use a number from ${least} to ${most}`);
}
