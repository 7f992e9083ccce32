import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { equalJson } from "@virtual-workspaces/apimachinery/json";

/** One way of changing objects: webhooks or policies. Called in each round. */
export interface Mutator {
  /** @returns whether it has changed the object. @throws ApiError to reject the request */
  run(round: number): Promise<boolean>;
}

/** Mutators are called again once. */
const ROUNDS = 2;

/** Runs mutators one after the other, and all once more when one has changed the object. @returns whether one has */
export async function inRounds(mutators: readonly Mutator[]): Promise<boolean> {
  let isChanged = false;
  for (let round = 0; round < ROUNDS; round++) {
    for (const mutator of mutators) if (await mutator.run(round)) isChanged = true;
    if (!isChanged) break;
  }
  return isChanged;
}

/** Decides which members of a mutator are called again: those that want it, after a later change. */
export class Reinvocation<K> {
  readonly #again = new Set<K>();
  readonly #called = new Set<K>();
  #last: KubeObject | undefined;

  /** Begins a round. Changes of other mutators since the last one count too. */
  begin(round: number, object: KubeObject | undefined): void {
    if (round > 0 && !equalJson(object, this.#last)) this.changed();
  }

  /** Whether to call a member in this round. */
  includes(round: number, member: K): boolean {
    return round === 0 || this.#again.has(member);
  }

  /** Notes a change of the object: earlier members are called again. */
  changed(): void {
    for (const member of this.#called) this.#again.add(member);
    this.#called.clear();
  }

  /** Notes that a member was called that wants to be called again. */
  called(member: K): void {
    this.#called.add(member);
  }

  end(object: KubeObject | undefined): void {
    this.#last = object;
  }
}
