// A process that knows where a million workspaces are, by whatever means: it is filled, hears of changes, and is looked up in.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { FIRST_OF_FIVE, type Simulated, simulated } from "../_servers/simulated-workspaces.ts";
import { sharedNow as now } from "../_servers/tick.ts";
import type { Change } from "../_servers/workspace-changes.ts";
import type { Commands } from "./commands.ts";
import { percentile } from "./statistics.ts";

/** One way to know them. */
export interface Known {
  fill(one: Simulated): void;
  apply(change: Change): void;
  /** The logical cluster or URL that a path leads to; undefined if to none. */
  find(path: string): string | undefined;
}

/** Lookups between which nothing else comes to its turn: some tenths of a millisecond. */
const SLICE = 200;
/** No divisor of what there is, so that all are met. */
const STRIDE = 7_919_011;

/** What is asked of both alike. */
export interface LookedUp extends Commands {
  readonly fill: (count: number) => void;
  readonly check: () => void;
  readonly follow: (port: number) => Promise<void>;
  /** For so long, in ms. @returns CPU of a lookup, µs; how many changes were seen meanwhile, and when after they were sent, ms */
  readonly look: (milliseconds: number) => Promise<{ cpu: number; changes: number; median: number; p99: number }>;
}

export function lookedUp(known: Known): LookedUp {
  let count = 0;
  let at = 0;
  let delays: number[] = [];
  const someOfFive = (): Simulated => {
    at = (at + STRIDE) % (count - FIRST_OF_FIVE);
    return simulated(FIRST_OF_FIVE + at);
  };
  const assertFound = ({ path, leadsTo }: Simulated): void => assert.equal(known.find(path), leadsTo, path);
  return {
    fill: (workspaces) => {
      count = workspaces;
      for (let n = 0; n < count; n++) known.fill(simulated(n));
    },
    check: () => {
      for (let n = 0; n < 20_000; n++) assertFound(someOfFive());
      for (let n = 0; n < FIRST_OF_FIVE; n += 17) assertFound(simulated(n));
      for (const path of ["root:none", `${someOfFive().path}0`, "none"])
        assert.equal(known.find(path), undefined, path);
    },
    follow: async (port) => {
      const socket = connect(port, "127.0.0.1");
      const first = Promise.withResolvers<void>();
      createInterface(socket).on("line", (line) => {
        const change: Change = JSON.parse(line);
        known.apply(change);
        const isThere = change.kind === "cluster" || change.kind === "mount";
        assert.equal(known.find(change.path), isThere ? change.leadsTo : undefined, change.path);
        delays.push(now() - change.sent);
        first.resolve();
      });
      await first.promise;
    },
    look: async (milliseconds) => {
      delays = [];
      let [cpu, lookups] = [0, 0];
      for (const began = now(); now() - began < milliseconds; ) {
        const wanted = Array.from({ length: SLICE }, someOfFive);
        // As a request brings it: a text of its own, whose hash nobody knows yet.
        const paths = wanted.map(({ path }) => Buffer.from(path, "latin1").toString("latin1"));
        const before = process.cpuUsage();
        const found = paths.map(known.find);
        const { user, system } = process.cpuUsage(before);
        cpu += user + system;
        lookups += SLICE;
        assert.deepEqual(
          found,
          wanted.map(({ leadsTo }) => leadsTo),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
      const sorted = Float64Array.from(delays).sort();
      return {
        cpu: cpu / lookups,
        changes: sorted.length,
        median: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
      };
    },
  };
}
