import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import { type BackoffOptions, LONGEST_TIMER } from "@virtual-workspaces/transport";
import type { ResourceClient } from "../resource-client.ts";
import type { Indexer } from "./store-index.ts";

/** What went wrong in code that was given to an informer. */
export interface InformerProblem {
  /** A handler, or what else of yours was being called. */
  readonly during: "added" | "updated" | "deleted" | "lifecycle" | "transform" | "indexer";
  /** Of the object that it was about. */
  readonly key?: ObjectKey;
}

/** How an informer keeps in step. */
export interface ReflectorOptions {
  /** As `kubectl -l` has it. @default all */
  readonly labels?: string;
  /** As `kubectl --field-selector` has it. @default all */
  readonly fields?: string;
  /** After how long a watch is renewed, s: the server is asked to end it then (`timeoutSeconds`). @default 10 */
  readonly renewEvery?: number;
  /**
   * How long a watch may be silent before it counts as dead, ms. Above `renewEvery`, since a quiet watch is silent until it
   * is renewed. @default 3 s above `renewEvery`
   */
  readonly idle?: number;
  /**
   * How long a list by watch (WatchList) may bring nothing new before it counts as none, ms: servers that do not know the
   * request say nothing, and lists are read page by page then. The whole may take 12 times that. @default 5000
   */
  readonly initialDeadline?: number;
  /** The objects in a page of a list. @default 500 */
  readonly pageSize?: number;
  /** What lists of the kind are called. @default the kind, and `List` */
  readonly listKind?: string;
  /** After failures. */
  readonly backoff?: Pick<BackoffOptions, "first" | "most">;
  /**
   * How long a server whose versions are older than those that were seen counts as one that lags behind, ms. After that its
   * state is taken: it was restored from a backup, or replaced. @default 60000
   */
  readonly rewindAfter?: number;
}

/** What an {@link Informer} is of, and how. */
export interface InformerOptions<T extends object> extends ReflectorOptions {
  /** What is watched: `client.resource(Kind)`, in one namespace or all, one logical cluster or `*`. */
  readonly resource: ResourceClient<T>;
  /**
   * What is kept of each object, to save memory: {@link withoutManagedFields}, for one. May change the object it is given.
   * Where it throws the whole object is kept. @default everything
   */
  readonly transform?: (object: ObjectOf<T>) => ObjectOf<T>;
  /** What objects are found by in the store, besides their names. */
  readonly indexers?: Readonly<Record<string, Indexer<ObjectOf<T>>>>;
  /** Told of what handlers and the functions above throw. @default a warning of the process */
  readonly onProblem?: (error: Error, problem: InformerProblem) => void;
}

/** A transform: who set which field is often half of an object, and seldom read. */
export function withoutManagedFields<T>(object: ObjectOf<T>): ObjectOf<T> {
  delete object.metadata.managedFields;
  return object;
}

/** @throws Error that names the option */
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
      throw new Error(`${name} of an informer: give it a number from ${least} to ${most}`);
}
