import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded } from "@virtual-workspaces/framework";

/** How many objects are kept parsed, the last that were read. */
const KEPT = 1_024;

/** Objects parsed when they are read: those that are read again and again need not be each time. */
export class Decoded<T extends KubeObject> {
  readonly #objects = new Map<Encoded, T>();

  /** Shared by all who ask. */
  of(encoded: Encoded): T {
    const known = this.#objects.get(encoded);
    const object = known ?? decodeObject<T>(encoded);
    if (known !== undefined) this.#objects.delete(encoded);
    this.#objects.set(encoded, object);
    if (this.#objects.size > KEPT) this.#objects.delete(this.#objects.keys().next().value as Encoded);
    return object;
  }

  /** Of one that is no more: it would hold on to what was read together with it. */
  forget(encoded: Encoded): void {
    this.#objects.delete(encoded);
  }
}
