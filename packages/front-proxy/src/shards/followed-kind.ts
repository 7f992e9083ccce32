import type { ObjectKey, ObjectOf } from "@virtual-workspaces/apimachinery";
import { Informer, type InformerOptions } from "@virtual-workspaces/client";
import { Reading } from "./reading.ts";

/** A kind of a shard, and who is told of its objects. */
export interface FollowedKindOptions<T extends object>
  extends Pick<InformerOptions<T>, "resource" | "transform" | "backoff"> {
  readonly set: (object: ObjectOf<T>) => void;
  readonly deleted: (key: ObjectKey) => void;
  /** Told of failures, each spell once. */
  readonly onError: (error: unknown) => void;
}

/** The objects of one kind of a shard, told as they are and as they change, until the end. */
export class FollowedKind<T extends object = object> implements AsyncDisposable {
  readonly #informer: Informer<T>;
  readonly #reading: Reading;
  readonly #began: number = Date.now();
  #isOver = false;

  constructor({ set, deleted, onError, ...options }: FollowedKindOptions<T>) {
    this.#reading = new Reading(onError);
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
      lifecycle: (event) => this.#reading.see(event),
    });
    this.#informer.start();
  }

  /** Resolves when all of it has been read, or could not be. */
  get tried(): Promise<void> {
    return this.#reading.tried;
  }

  /** Whether all of it has been told, however old that is by now. */
  get isFilled(): boolean {
    return this.#reading.isFilled;
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
export type AnyKind = Pick<FollowedKind, "tried" | "isFilled" | "seenAt" | typeof Symbol.asyncDispose>;
