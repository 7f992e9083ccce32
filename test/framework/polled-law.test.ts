// Reads, changes at the source and writes of clients in random order. An acknowledged write is at the source, and a rejected one
// is not. A write with a version has replaced what its client saw. Watches never go back to an older state. In the end the
// source, lists and watches agree.
import { setImmediate as turn } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { polled } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain, type WatchEvent } from "../_support/plain.ts";
import { untilAnswer } from "../_support/until.ts";
import { BOOKS, Book, type BookObject, book, sent, serving } from "./polled-outside.ts";

const NAMES = ["a", "b", "c"] as const;
type Spec = BookObject["spec"];

/** State of a name at the source, after each change. `undefined`: no object. */
interface Entry {
  readonly name: string;
  readonly spec: Spec | undefined;
}

/** Source that remembers each of its states, and whose calls take a random number of turns of the event loop. */
class Journal {
  readonly entries: Entry[] = [];
  readonly books = new Map<string, Spec>();
  readonly #turns: readonly number[];
  #calls = 0;

  constructor(turns: readonly number[]) {
    this.#turns = turns;
  }

  set(name: string, spec: Spec | undefined): void {
    if (spec === undefined && !this.books.has(name)) return;
    this.entries.push({ name, spec });
    if (spec === undefined) this.books.delete(name);
    else this.books.set(name, spec);
  }

  /** Reads at a random moment, and answers at a later one. */
  async slowly<R>(act: () => R): Promise<R> {
    await this.#wait();
    const result = act();
    await this.#wait();
    return result;
  }

  /** Changes a name, unless its state is another one than the caller knows. */
  replace(name: string, before: Spec | undefined, spec: Spec | undefined): void {
    const now = this.books.get(name);
    if (now?.title !== before?.title || now?.pages !== before?.pages)
      throw ApiError.conflict({ group: "test.dev", resource: "books" }, name, "changed at the source");
    this.set(name, spec);
  }

  async #wait(): Promise<void> {
    for (let left = this.#turns[this.#calls++ % this.#turns.length] ?? 0; left > 0; left--) await turn();
  }
}

const lane = fc.array(
  fc.record({
    verb: fc.constantFrom("create", "patch", "reset", "put", "delete", "scan", "file", "unlink"),
    name: fc.constantFrom(...NAMES),
  }),
  { maxLength: 8 },
);
type Step = { readonly verb: string; readonly name: string };

/** Write of a client: the new state, the state that it saw, if it insisted on that, and whether it was acknowledged. */
interface Done {
  readonly name: string;
  readonly title?: string;
  readonly pages?: number;
  readonly seen?: Spec;
  /** States of the source while the request was under way, as positions in its journal. */
  readonly during?: readonly [from: number, to: number];
  readonly acknowledged: boolean;
}

const ok = ({ status }: { readonly status: number }): boolean => status < 300;

async function play(
  { verb, name }: Step,
  id: number,
  world: { readonly server: PlainServer; readonly journal: Journal; readonly scan: () => Promise<void> },
): Promise<Done | undefined> {
  const { server, journal, scan } = world;
  const title = `title ${id}`;
  if (verb === "scan") await scan();
  else if (verb === "file") journal.set(name, { title });
  else if (verb === "unlink") journal.set(name, undefined);
  else if (verb === "create")
    return { name, title, acknowledged: ok(await server.send(`POST ${BOOKS}`, sent(name, title))) };
  else if (verb === "reset") {
    const from = journal.entries.length;
    const answer = await server.send(`PATCH ${BOOKS}/${name}`, { spec: { title: "first" } }, MERGE);
    return { name, during: [from, journal.entries.length], acknowledged: ok(answer) };
  } else if (verb === "patch")
    return {
      name,
      pages: id,
      acknowledged: ok(await server.send(`PATCH ${BOOKS}/${name}`, { spec: { pages: id } }, MERGE)),
    };
  else if (verb === "delete") await server.send(`DELETE ${BOOKS}/${name}`);
  else {
    const { status, body } = await server.get(`${BOOKS}/${name}`);
    if (status !== 200) return undefined;
    const answer = await server.send(`PUT ${BOOKS}/${name}`, { ...body, spec: { title } });
    return { name, title, seen: body.spec, acknowledged: ok(answer) };
  }
  return undefined;
}

/** Checks that the states of each name in a watch are states of the source, in its order. */
function checkOrder(events: readonly WatchEvent[], entries: readonly Entry[]): void {
  for (const name of NAMES) {
    const history = entries.filter((entry) => entry.name === name);
    let at = -1;
    for (const { type, object } of events.filter((event) => event.object.metadata.name === name)) {
      const spec = type === "DELETED" ? undefined : (object["spec"] as Spec);
      const found = history.findIndex(
        (entry, index) => index > at && JSON.stringify(entry.spec) === JSON.stringify(spec),
      );
      expect(found, `${type} ${name} ${JSON.stringify(spec)} after ${at} of ${JSON.stringify(history)}`).to.be.above(
        -1,
      );
      at = found;
    }
  }
}

function checkWrites(done: readonly Done[], entries: readonly Entry[]): void {
  for (const { name, title, pages, seen, during, acknowledged } of done) {
    if (during !== undefined) {
      const [from, to] = during;
      const state = entries.slice(0, from).findLast((entry) => entry.name === name);
      const states = [state, ...entries.slice(from, to).filter((entry) => entry.name === name)];
      if (acknowledged) expect(states.map((entry) => entry?.spec?.title)).to.include("first");
      continue;
    }
    const history = entries.filter((entry) => entry.name === name);
    const at = history.findIndex(({ spec }) => (title === undefined ? spec?.pages === pages : spec?.title === title));
    // A write that another deletes before it can be read back is an error, although it was done.
    if (!acknowledged && at >= 0 && history.length > at + 1 && history[at + 1]?.spec === undefined) continue;
    expect(at >= 0, `${JSON.stringify({ name, title, pages, acknowledged })} at the source`).to.equal(acknowledged);
    if (acknowledged && seen !== undefined) expect(history[at - 1]?.spec).to.deep.equal(seen);
  }
}

describe("polled sources in any order of reads and writes", function () {
  this.timeout(240_000);

  it("lose no acknowledged write, and agree with lists and watches", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(lane, { minLength: 2, maxLength: 5 }),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        async (lanes, turns, byOne) => {
          const journal = new Journal(turns);
          journal.set("a", { title: "first" });
          const asBook = (name: string): BookObject | undefined => {
            const spec = journal.books.get(name);
            return spec && { ...book(name), spec: { ...spec } };
          };
          const books = polled({
            ...{ collection: Book.collection(), cluster: "root", every: 3_600_000 },
            read: () => journal.slowly(() => [...journal.books.keys()].flatMap((name) => asBook(name) ?? [])),
            ...(byOne && { readOne: ({ name }) => journal.slowly(() => asBook(name)) }),
            write: async ({ metadata, spec }, { before }) => {
              await journal.slowly(() => undefined);
              journal.replace(metadata.name, before?.spec, spec);
              await journal.slowly(() => undefined);
            },
            remove: async ({ metadata, spec }) => {
              await journal.slowly(() => undefined);
              journal.replace(metadata.name, spec, undefined);
            },
          });
          await using server = await startPlain([serving(books)]);
          await untilAnswer(
            () => server.get(BOOKS),
            ({ status }) => status === 200,
          );
          await using watch = await server.watch(`${BOOKS}?watch=true`);
          const done: Done[] = [];
          await Promise.all(
            lanes.map(async (steps) => {
              for (const step of steps) {
                await journal.slowly(() => undefined);
                const result = await play(step, ++count, { server, journal, scan: () => books.scan() });
                if (result !== undefined) done.push(result);
              }
            }),
          );
          journal.set("end", { title: "end" });
          await books.scan();
          const events = await watch.until(({ object }) => object.metadata.name === "end");
          const { body: list } = await server.get(BOOKS);
          const state = new Map(events.map(({ type, object }) => [object.metadata.name, { type, object }]));
          const known = [...state.values()].filter(({ type }) => type !== "DELETED").map(({ object }) => object);
          const byName = (one: WatchEvent["object"]): string => one.metadata.name ?? "";
          known.sort((one, other) => byName(one).localeCompare(byName(other)));
          expect(known).to.deep.equal(
            list.items.map((item: object) => ({ apiVersion: "test.dev/v1", kind: "Book", ...item })),
          );
          expect(Object.fromEntries(known.map((one) => [byName(one), one["spec"]]))).to.deep.equal(
            Object.fromEntries(journal.books),
          );
          checkOrder(events, journal.entries);
          checkWrites(done, journal.entries);
        },
      ),
      { numRuns: Number(process.env["RUNS"] ?? 60), interruptAfterTimeLimit: 200_000 },
    );
  });
});
