import type { Batch, Transaction } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { Shown } from "./subject.ts";

type State = ReadonlyMap<string, Shown>;

/** Model of a store: every state there ever was. */
export class Model {
  /** Revision of the first state, which is empty. */
  readonly base: number;
  readonly #states: State[] = [new Map()];
  /** Oldest readable revision. */
  compacted: number;

  constructor(base: number) {
    this.base = base;
    this.compacted = base;
  }

  get head(): number {
    return this.base + this.#states.length - 1;
  }

  /** Returns the entries at a revision, in the order of the keys' bytes. */
  range(revision: number = this.head): Shown[] {
    return [...this.#at(revision).values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  get(key: string): Shown | undefined {
    return this.#at(this.head).get(key);
  }

  /** Applies a transaction. @returns whether its conditions held */
  commit({ conditions, operations }: Transaction): boolean {
    const state = this.#at(this.head);
    if (conditions.some(({ key, modRevision }) => (state.get(key)?.modRevision ?? 0) !== modRevision)) return false;
    const next = new Map(state);
    const modRevision = this.head + 1;
    let changed = false;
    for (const operation of operations) {
      const { key } = operation;
      if (operation.type === "delete") {
        changed = next.delete(key) || changed;
        continue;
      }
      const createRevision = state.get(key)?.createRevision ?? modRevision;
      next.set(key, { key, value: Buffer.from(operation.value).toString(), createRevision, modRevision });
      changed = true;
    }
    if (changed) this.#states.push(next);
    return true;
  }

  /** Returns the events after a revision, one line each. */
  told(after: number): string[] {
    const lines: string[] = [];
    for (let revision = after + 1; revision <= this.head; revision++) {
      const [before, now] = [this.#at(revision - 1), this.#at(revision)];
      const keys = [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key));
      for (const key of keys.sort()) lines.push(line(revision, key, now.get(key), before.get(key)));
    }
    return lines;
  }

  #at(revision: number): State {
    return this.#states[revision - this.base] ?? expect.fail(`the model has no revision ${revision}`);
  }
}

/** Returns batches as lines like the model's, with keys without their prefix. */
export function linesOf(batches: readonly Batch[], prefix: string): string[] {
  return batches.flatMap(({ revision, events }) =>
    events
      .map(({ key, entry, previous }) => {
        const values = [entry, previous].map((at) => at && { ...at, value: at.value.toString() });
        return { key: key.slice(prefix.length), now: values[0], before: values[1] };
      })
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key, now, before }) => line(revision, key, now, before)),
  );
}

function line(revision: number, key: string, ...states: (Omit<Shown, "key"> | undefined)[]): string {
  const text = states.map((at) => (at === undefined ? "-" : `${at.value}@${at.createRevision},${at.modRevision}`));
  return `${revision} ${key} ${text.join(" ")}`;
}
