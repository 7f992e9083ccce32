import { type Entry, isStoreError, type Transaction } from "@virtual-workspaces/store";
import { expect } from "chai";
import fc from "fast-check";
import { linesOf, Model } from "./model.ts";
import type { Reader } from "./reader.ts";
import { type Engine, refused, Subject, shown, under } from "./subject.ts";

const KEYS = ["a", "a/b", "b", "\uFFFF", "\u{10000}"];

/** Position between the oldest and the newest revision, from 0 to 1. */
const place = fc.double({ min: 0, max: 1, noNaN: true });
const key = fc.constantFrom(...KEYS);
const operation = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant("put" as const), key, value: fc.constantFrom("1", "2", "") }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete" as const), key }) },
);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      operations: fc.uniqueArray(operation, { maxLength: 4, selector: (each) => each.key }),
      // Whether a condition holds, or else its distance from the current revision.
      conditions: fc.array(fc.record({ key, off: fc.constantFrom(0, 0, 0, 1, 2) }), { maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("range" as const), place, limit: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("watch" as const), place, read: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const), place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("elsewhere" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Applies one history to a store and to a model. */
class Play {
  readonly #subject: Subject;
  readonly #prefix: string;
  readonly #model: Model;
  /** Watches from various revisions, with their events so far. */
  readonly #watches: { readonly reader: Reader; readonly after: number; readonly told: string[] }[] = [];

  constructor(subject: Subject, options: { readonly prefix: string; readonly base: number }) {
    this.#subject = subject;
    this.#prefix = options.prefix;
    this.#model = new Model(options.base);
  }

  async do(step: Step): Promise<void> {
    switch (step.do) {
      case "commit":
        return this.#commit(step);
      case "range":
        return this.#range(this.#revision(step.place, this.#model.base), step.limit);
      case "watch":
        return this.#watch(this.#revision(step.place, this.#model.compacted), step.read);
      case "compact": {
        const revision = this.#revision(step.place, this.#model.base);
        await this.#subject.store.compact(revision);
        this.#model.compacted = Math.max(this.#model.compacted, revision);
        return;
      }
      case "elsewhere": {
        // A revision without events in the range.
        await this.#subject.put("elsewhere", "x");
        this.#model.commit({ conditions: [], operations: [{ type: "put", key: "", value: Buffer.of() }] });
        return;
      }
    }
  }

  /** Checks that all watches have delivered the correct events, or failed as permitted. */
  async end(): Promise<void> {
    for (const { reader, after, told } of this.#watches) {
      const expected = this.#told(after);
      try {
        told.push(...linesOf(await reader.until(this.#model.head), this.#prefix));
        expect(told).to.deep.equal(expected);
      } catch (error) {
        if (!isStoreError(error) || error.code !== "Compacted") throw error;
        expect(this.#model.compacted, "it was compacted beyond").to.be.above(Math.max(after, reader.revision));
        expect(told, "what it told before").to.deep.equal(expected.slice(0, told.length));
      }
      await reader.leave();
    }
    await this.#range(this.#model.head, 3);
  }

  #revision(place: number, from: number): number {
    return from + Math.round(place * (this.#model.head - from));
  }

  #told(after: number): string[] {
    return this.#model.told(after).filter((line) => !/^\d+ {2}/.test(line)); // events in other ranges
  }

  async #commit(step: Step & { do: "commit" }): Promise<void> {
    const transaction = (prefix: string): Transaction => ({
      conditions: step.conditions.map(({ key, off }) => ({
        key: prefix + key,
        modRevision: Math.max(0, (this.#model.get(key)?.modRevision ?? 0) - off),
      })),
      operations: step.operations.map((each) =>
        each.type === "put"
          ? { type: "put", key: prefix + each.key, value: Buffer.from(each.value) }
          : { type: "delete", key: prefix + each.key },
      ),
    });
    const outcome = await this.#subject.commit(transaction(this.#prefix));
    expect(outcome.committed).to.equal(this.#model.commit(transaction("")));
    expect(outcome.revision).to.equal(this.#model.head);
    if (!outcome.committed)
      expect(outcome.current.map((entry) => this.#shown(entry))).to.deep.equal(
        step.conditions.map(({ key }) => this.#model.get(key)),
      );
    for (const { key } of step.operations)
      expect(this.#shown(await this.#subject.store.get(this.#prefix + key))).to.deep.equal(this.#model.get(key));
  }

  async #range(revision: number, limit: number): Promise<void> {
    const range = under(this.#prefix);
    if (revision < this.#model.compacted) {
      await refused("Compacted", () => this.#subject.store.range(range, { revision }));
      return;
    }
    const entries: Entry[] = [];
    for (let { from } = range, more = true; more; from = `${entries.at(-1)?.key}\u0000`) {
      const page = await this.#subject.store.range({ from, to: range.to }, { revision, limit });
      expect(page.entries.length).to.be.at.most(limit);
      expect(page.revision).to.equal(revision);
      if (page.more) expect(page.entries).to.have.length(limit);
      entries.push(...page.entries);
      more = page.more;
    }
    const expected = this.#model.range(revision).filter((entry) => entry.key !== "");
    expect(entries.map((entry) => this.#shown(entry))).to.deep.equal(expected);
  }

  async #watch(after: number, read: number): Promise<void> {
    const reader = await this.#subject.watch(under(this.#prefix), { after, previous: true });
    const told: string[] = [];
    const here = new Set(this.#told(after).map((line) => Number(line.split(" ", 1))));
    for (let count = 0; count < Math.min(read, here.size); count++)
      told.push(...linesOf([await reader.next()], this.#prefix));
    this.#watches.push({ reader, after, told });
  }

  #shown(entry: Entry | undefined): ReturnType<Model["get"]> {
    return entry && { ...shown(entry), key: entry.key.slice(this.#prefix.length) };
  }
}

export function describeHistories(engine: Engine): void {
  describe("random histories", () => {
    const subject = Subject.for(engine);

    it("agree with a model that keeps every state", async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const play = new Play(subject, { prefix: `${run++}/`, base: await subject.store.head() });
          for (const step of steps) await play.do(step);
          await play.end();
        }),
        { numRuns: engine.histories ?? 60 },
      );
    }).timeout(120_000);
  });
}
