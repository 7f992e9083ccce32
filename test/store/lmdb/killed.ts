// Kills a process repeatedly while 64 writers write to its store. Each time, this process opens the store, which must hold
// everything acknowledged, and a history without gaps.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { type Batch, isStoreError, lmdbStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { Random } from "../../_support/random.ts";
import { tagOf } from "./values.ts";

const everything = { from: "", to: "\u{10FFFF}" };

/** Maximum number of transactions to acknowledge before a kill, not counting those in progress. */
const MOST = 600;

/** Result of a round. */
export interface Round {
  /** Number of acknowledged transactions. */
  readonly acknowledged: number;
}

export class KilledStore {
  readonly #dir: string;
  readonly #random: Random;
  #round = 0;
  /** Entries at the last check: tags by key. */
  #stood = new Map<string, string>();
  #head = 1;

  constructor(dir: string, random: Random) {
    this.#dir = dir;
    this.#random = random;
  }

  /** Lets a process write, kills it, and checks the store. */
  async round(): Promise<Round> {
    const acknowledged = await this.#writeAndKill();
    const store = await lmdbStore({ dir: this.#dir });
    try {
      await this.#check(store, acknowledged);
    } finally {
      await store[Symbol.asyncDispose]();
    }
    return { acknowledged: acknowledged.size };
  }

  /** @returns acknowledged changes by revision, one per key */
  async #writeAndKill(): Promise<Map<number, string[]>> {
    const acknowledged = new Map<number, string[]>();
    // Sometimes before any acknowledgment; else after a fixed number, so that slow machines do not matter.
    const enough = this.#round % 4 === 0 ? 0 : 1 + this.#random.below(MOST);
    const child = this.#start();
    const ended = once(child, "exit");
    for await (const line of createInterface(child.stdout)) {
      const [first = "", ...rest] = line.split(" ");
      if (first === "open") {
        expect(Number(rest[0]), "revisions go on").to.be.at.least(this.#head);
      } else {
        expect(acknowledged.has(Number(first)), "a revision belongs to one transaction").to.equal(false);
        acknowledged.set(Number(first), rest);
      }
      if (acknowledged.size >= enough) child.kill("SIGKILL");
    }
    expect(await ended, "it was killed, and did not fail before").to.deep.equal([null, "SIGKILL"]);
    return acknowledged;
  }

  #start(): ChildProcessByStdio<null, Readable, null> {
    const program = join(import.meta.dirname, "writers.fixture.ts");
    const args = ["--conditions=@virtual-workspaces/source", program, this.#dir, String(this.#round++)];
    return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  }

  async #check(store: Store, acknowledged: ReadonlyMap<number, readonly string[]>): Promise<void> {
    const head = await store.head();
    expect(head, "nothing is lost").to.be.at.least(Math.max(this.#head, ...acknowledged.keys()));
    const from = await oldest(store, this.#head);
    if (from > this.#head) this.#stood = await stand(store, from);
    for (const { revision, events } of await history(store, from, head)) {
      const did = events.map(({ key, entry }) => `${key}=${entry === undefined ? "-" : tagOf(key, entry.value)}`);
      const said = acknowledged.get(revision);
      if (said !== undefined) expect(did, `what was acknowledged at ${revision}`).to.have.members(said);
      for (const { key, entry } of events) {
        if (entry === undefined) this.#stood.delete(key);
        else this.#stood.set(key, tagOf(key, entry.value));
      }
    }
    const found = await stand(store, head);
    expect([...found].sort(), "the history leads to what stands there").to.deep.equal([...this.#stood].sort());
    this.#head = head;
  }
}

/** Returns the revision, or the oldest one after it that is not compacted. */
async function oldest(store: Store, revision: number): Promise<number> {
  try {
    await store.range(everything, { revision, limit: 1 });
    return revision;
  } catch (error) {
    if (!isStoreError(error) || error.code !== "Compacted" || error.compacted === undefined) throw error;
    return error.compacted;
  }
}

async function stand(store: Store, revision: number): Promise<Map<string, string>> {
  const { entries } = await store.range(everything, { revision });
  return new Map(entries.map(({ key, value }) => [key, tagOf(key, value)]));
}

/** Returns all revisions in a range, each of which must exist. */
async function history(store: Store, after: number, head: number): Promise<Batch[]> {
  const batches: Batch[] = [];
  if (after === head) return batches;
  for await (const batch of store.watch(everything, { after })) {
    expect(batch.revision, "the history has no gap").to.equal(after + batches.length + 1);
    batches.push(batch);
    if (batch.revision >= head) break;
  }
  return batches;
}
