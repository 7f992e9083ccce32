import { isApiError, type ObjectKey, type ObjectOf } from "@virtual-workspaces/apimachinery";
import { Informer, type InformerOptions, type LifecycleEvent } from "@virtual-workspaces/client";

/** A kind of a shard, and who is told of its objects. */
export interface KindInformerOptions<T extends object>
  extends Pick<InformerOptions<T>, "resource" | "transform" | "backoff"> {
  readonly set: (object: ObjectOf<T>) => void;
  readonly deleted: (key: ObjectKey) => void;
  /** Told of failures, each spell once. */
  readonly onError: (error: unknown) => void;
}

/** The objects of one kind of a shard, told as they are and as they change, until the end. */
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

  /** Resolves when all of it has been read, or could not be. */
  get tried(): Promise<void> {
    return this.#progress.tried;
  }

  /** Whether all of it has been told, however old that is by now. */
  get isFilled(): boolean {
    return this.#progress.isFilled;
  }

  /** When the shard last gave a sign of life about it, ms. */
  get seenAt(): number {
    return this.#informer.lastEventAt?.getTime() ?? this.#began;
  }

  /** Nothing is told from now on; what was told stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#informer.stop();
  }
}

/** One of whichever kind. */
export type AnyKind = Pick<KindInformer, "tried" | "isFilled" | "seenAt" | typeof Symbol.asyncDispose>;

/** How reading one kind goes: what is seen of its informer. */
export class InformerProgress {
  readonly #onError: (error: unknown) => void;
  readonly #tried = Promise.withResolvers<void>();
  #isAway = false;
  /** Whether all of it has been read, or there is none. */
  isFilled = false;

  /** @param onError told of the first of several failures in a row */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Resolves when all was read, or could not be. */
  get tried(): Promise<void> {
    return this.#tried.promise;
  }

  see(event: LifecycleEvent): void {
    if (event.type === "connected") this.#isAway = false;
    // That the kind is not there is no failure: nothing of it is.
    const isNothing = event.type === "error" && isApiError(event.error) && event.error.code === 404;
    if (event.type === "synced" || isNothing) this.isFilled = true;
    else if (event.type === "error") this.failed(event.error);
    if (event.type === "synced" || event.type === "error") this.#tried.resolve();
  }

  /** Anything else that is needed for it failed. */
  failed(error: unknown): void {
    if (!this.#isAway) this.#onError(error);
    this.#isAway = true;
  }
}
