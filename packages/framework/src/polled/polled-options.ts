import type { ObjectKey, StoredObject } from "@virtual-workspaces/apimachinery";
import type { BackoffOptions, Clock } from "@virtual-workspaces/transport";
import type { User } from "../request/user.ts";
import type { Collection } from "../resource/collection/collection.ts";
import type { SourceObject } from "../resource/collection/replacement.ts";
import type { Awaitable } from "../util/awaitable.ts";

/** A source outside that is read as a whole, again and again: a directory, a table, a REST service. */
export interface PolledOptions<T extends object> {
  /** Collection in memory that serves the objects. The source alone writes what is in {@link cluster}: a read undoes other writes. */
  readonly collection: Collection<T>;
  /**
   * Logical cluster of all objects: "" where the path of the view has none, `*` when the annotation `kcp.io/cluster` of each
   * object names its own. Clients of other logical clusters see no objects, and cannot create any.
   */
  readonly cluster: string;
  /** Time from the end of one read to the next, ms, less up to a tenth (jitter). */
  readonly every: number;
  /**
   * Reads all objects of the source; objects of a namespaced kind name their namespace. Never called twice at a time, nor
   * during a write. What it returns replaces the objects of {@link cluster} as `MemoryPart.replace` does. When it throws, or
   * an object is bad, all objects stay as they were.
   *
   * A read that begins after a write must see it. It must not wait for {@link Polled.scan}, which waits for its end.
   */
  readonly read: (context: ReadContext) => Awaitable<Iterable<SourceObject<T>>>;
  /**
   * Reads one object, or `undefined` for none. Called before and after each write of a client, with keys that clients choose.
   *
   * Security: an object of a namespaced kind must name its namespace, and with cluster `*` its logical cluster: another one
   * than the key's is an error.
   * @default `read`, which is slow for large sources, and lets one bad object block the writes of all others
   */
  readonly readOne?: (key: ObjectKey, context: ReadContext) => Awaitable<SourceObject<T> | undefined>;
  /**
   * Time limit of a read, ms; its signal aborts then, and its result no longer counts. `Infinity`: no limit.
   * @default 60000
   */
  readonly timeout?: number;
  /**
   * Delays after failed reads.
   * @default from `every`, but at most a second, twice as long after each further failure, up to `every`, but at least 30 s
   */
  readonly backoff?: BackoffOptions;
  /**
   * Called when a read fails, once until the message changes or a read succeeds. Its exceptions are ignored.
   * @default a warning in the log of `start`
   */
  readonly onError?: (error: unknown) => void;
  /** Source of time. @default the machine's */
  readonly clock?: Clock;
}

/** A source outside that clients can write. */
export interface WritablePolledOptions<T extends object> extends PolledOptions<T> {
  /**
   * Creates or replaces an object at the source. The framework has checked it against the kind; it has no resource version.
   * Metadata that it does not store last as long as the process, except labels and annotations: these are as the source
   * returns them. After an exception the source is read again. An `ApiError` is the answer to the client. Throw a
   * conflict when the source has changed since `before`: unless the client insists on its version, the framework retries if
   * a new read gives another object. Any other exception is 500.
   */
  readonly write: (object: StoredObject<T>, context: SourceWriteContext<T>) => Awaitable<void>;
  /** Removes an object from the source. Finalizers and grace periods are over. Exceptions are those of {@link write}. */
  readonly remove: (object: StoredObject<T>, context: SourceWriteContext<T>) => Awaitable<void>;
}

/** Data of one read. */
export interface ReadContext {
  /** Aborts when the time limit is over, or the server closes. */
  readonly signal: AbortSignal;
}

/** Data of one write. */
export interface SourceWriteContext<T extends object> {
  /** Logical cluster, namespace and name. */
  readonly key: ObjectKey;
  /** Object as it was at the source just before; `undefined` when it had none. */
  readonly before: StoredObject<T> | undefined;
  /** Client that writes. */
  readonly user: User;
  /** Aborts when the client leaves or its request is over. The next turn waits for the end of the write all the same. */
  readonly signal: AbortSignal;
}
