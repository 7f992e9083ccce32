import type { Client } from "@virtual-workspaces/client";
import type { RelatedObject, RelatedObjects, RelatedReference } from "../mounts/target.ts";
import { Followed } from "./followed.ts";

/** Where objects are read, and who is told: {@link Related}. */
export interface RelatedOptions {
  readonly client: Client;
  /** Something has changed that this one hangs on. */
  readonly changed: (dependent: string) => void;
  /** Told of every failure; what failed is tried again. */
  readonly onError: (error: unknown) => void;
}

interface Shared {
  readonly followed: Followed;
  readonly dependents: Set<string>;
}

/**
 * The objects that others hang on, each followed once and for as long as anything asks for it: by a watch of its own, so that no
 * more is read than is named.
 */
export class Related implements AsyncDisposable {
  readonly #options: RelatedOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: RelatedOptions) {
    this.#options = options;
  }

  /** How many are followed. */
  get size(): number {
    return this.#shared.size;
  }

  /** Has somebody look at objects; what they do not look at any more they no longer hang on. @throws what `look` throws */
  reading<R>(dependent: string, look: (objects: RelatedObjects) => R): R {
    const used = new Set<string>();
    try {
      return look({ get: (reference) => this.#get(reference, { dependent, used }) });
    } finally {
      this.#leave(dependent, used);
    }
  }

  /** Somebody is no more. */
  forget(dependent: string): void {
    this.#leave(dependent, new Set());
  }

  /** Ends; nothing is told any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const key of [...this.#shared.keys()]) this.#drop(key);
    await Promise.all(this.#ending);
  }

  #get(reference: RelatedReference, { dependent, used }: { dependent: string; used: Set<string> }): RelatedObject {
    const { cluster, apiVersion, kind, namespace = "", name } = reference;
    const key = JSON.stringify([cluster, apiVersion, kind, namespace, name]);
    used.add(key);
    const shared = this.#shared.get(key) ?? this.#follow(key, reference);
    shared?.dependents.add(dependent);
    return shared?.followed.state ?? { state: "unknown" };
  }

  #follow(key: string, reference: RelatedReference): Shared | undefined {
    if (this.#closed) return undefined;
    const { client, changed, onError } = this.#options;
    const dependents = new Set<string>();
    const tell = (): void => {
      for (const dependent of [...dependents]) changed(dependent);
    };
    const shared = { followed: new Followed({ client, reference, changed: tell, onError }), dependents };
    this.#shared.set(key, shared);
    return shared;
  }

  #leave(dependent: string, used: ReadonlySet<string>): void {
    for (const [key, { dependents }] of this.#shared)
      if (!used.has(key) && dependents.delete(dependent) && dependents.size === 0) this.#drop(key);
  }

  #drop(key: string): void {
    const shared = this.#shared.get(key);
    this.#shared.delete(key);
    if (shared === undefined) return;
    const ending = shared.followed[Symbol.asyncDispose]().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
