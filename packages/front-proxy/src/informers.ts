import { isApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { Informer, type InformerOptions, type LifecycleEvent } from "@virtual-workspaces/client";

/** Kind of a shard, with callbacks for its objects. */
export interface KindInformerOptions<T extends object>
  extends Pick<InformerOptions<T>, "resource" | "transform" | "backoff"> {
  readonly set: (object: ObjectOf<T>) => void;
  readonly deleted: (key: ObjectKey) => void;
  /** Called for failures, once for several in a row. */
  readonly onError: (error: unknown) => void;
}

/** Informer of one kind of a shard. Calls the callbacks for existing objects and for changes, until it is disposed of. */
export class KindInformer<T extends object = object> implements AsyncDisposable {
  readonly #informer: Informer<T>;
  readonly #progress: InformerProgress;
  readonly #began: number = Date.now();
  #isOver = false;

  constructor({ set, deleted, onError, ...options }: KindInformerOptions<T>) {
    this.#progress = new InformerProgress(onError);
    this.#informer = new Informer<T>(options);
    const changed = (object: ObjectOf<T>): void => {
      if (!this.#isOver) set(object);
    };
    this.#informer.on({
      added: changed,
      updated: changed,
      deleted: (_, { key }) => {
        if (!this.#isOver) deleted(key);
      },
      lifecycle: (event) => this.#progress.see(event),
    });
    this.#informer.start();
  }

  /** Resolves after the first attempt to read all objects. */
  get tried(): Promise<void> {
    return this.#progress.tried;
  }

  /** Whether all objects have been read at least once. */
  get isFilled(): boolean {
    return this.#progress.isFilled;
  }

  /** Time of the last event from the shard, ms. */
  get seenAt(): number {
    return this.#informer.lastEventAt?.getTime() ?? this.#began;
  }

  /** Stops the callbacks. Objects that they have received stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#informer.stop();
  }
}

/** Informer of any kind. */
export type AnyKind = Pick<KindInformer, "tried" | "isFilled" | "seenAt" | typeof Symbol.asyncDispose>;

/** Progress of reading one kind, from the events of its informer. */
export class InformerProgress {
  readonly #onError: (error: unknown) => void;
  readonly #tried = Promise.withResolvers<void>();
  #isAway = false;
  /** Whether all objects have been read, or the kind does not exist. */
  isFilled = false;

  /** @param onError called for the first of several failures in a row */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Resolves after the first attempt to read all objects. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  see(event: LifecycleEvent): void {
    if (event.type === "connected") this.#isAway = false;
    // A missing kind is no failure: it has no objects.
    const isNothing = event.type === "error" && isApiError(event.error) && event.error.code === 404;
    if (event.type === "synced" || isNothing) this.isFilled = true;
    else if (event.type === "error") this.failed(event.error);
    if (event.type === "synced" || event.type === "error") this.#tried.resolve();
  }

  /** Reports another failure that affects the kind. */
  failed(error: unknown): void {
    if (!this.#isAway) this.#onError(error);
    this.#isAway = true;
  }
}
