// The clients of the fan-out: thousands of watches in one process, read into one buffer, each event timed.
import { connect as connectPlain, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import { notify, serveCommands } from "../_harness/commands.ts";
import { percentile } from "../_harness/statistics.ts";
import { sharedNow } from "./tick.ts";

interface Target {
  readonly port: number;
  /** PEM of the authority that the server's certificate comes from; plain HTTP without. */
  readonly ca?: string;
  readonly count: number;
  /** Asked in turn. */
  readonly requests: readonly Uint8Array[];
}

/** How many connections are being made at a time: more than a listen queue holds would be refused. */
const AT_ONCE = 64;
/** What every socket reads into. */
const shared = Buffer.alloc(256 * 1024);
const NEWLINE = 10;
const BRACE = 125;

const sockets: Socket[] = [];
/** All that the first watchers were sent, for the bench to look at. */
const seen = ["", "", ""];
/** Of each watcher: events so far. */
let events = new Uint32Array();
/** Of each event since {@link from}: how many have it, and when each watcher got it. */
let from = 0;
let arrived: number[] = [];
let arrivals: Float64Array[] = [];

function open(target: Target & { readonly secureContext: SecureContext | undefined }, index: number): Promise<void> {
  const { port, secureContext, requests } = target;
  return new Promise((resolve, reject) => {
    const onread = { buffer: shared, callback: (count: number) => receive(count) };
    let last = 0;
    let begun = false;
    const receive = (count: number): boolean => {
      if (index < seen.length) seen[index] += shared.toString("latin1", 0, count);
      if (!begun) {
        if (shared.toString("latin1", 9, 12) !== "200") reject(new Error(shared.toString("latin1", 0, count)));
        begun = true;
        resolve();
      }
      // A line of the watch ends in a brace and a newline; those of the chunked encoding end otherwise.
      shared[count] = NEWLINE; // so that a search ends where the bytes do
      for (let at = shared.indexOf(NEWLINE); at !== -1 && at < count; at = shared.indexOf(NEWLINE, at + 1)) {
        if ((at === 0 ? last : shared[at - 1]) === BRACE) countOne(index);
      }
      last = shared[count - 1] ?? 0;
      return true;
    };
    const options = { port, host: "127.0.0.1", onread };
    const socket =
      secureContext === undefined
        ? connectPlain(options)
        : connectTls({ ...options, secureContext } as ConnectionOptions);
    socket.once(secureContext === undefined ? "connect" : "secureConnect", () =>
      socket.write(requests[index % requests.length] as Uint8Array),
    );
    socket.once("error", reject);
    socket.once("end", () => notify("ended", index));
    sockets.push(socket);
  });
}

function countOne(index: number): void {
  const n = events[index] as number;
  events[index] = n + 1;
  const at = n - from;
  arrived[at] = (arrived[at] ?? 0) + 1;
  const times = arrivals[at];
  if (times !== undefined) times[index] = sharedNow();
  if (arrived[at] === events.length) notify("complete", n + 1);
}

const commands = {
  connect: async (target: Target): Promise<void> => {
    events = new Uint32Array(target.count);
    const { ca } = target;
    const secureContext = ca === undefined ? undefined : createSecureContext({ ca });
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < target.count) await open({ ...target, secureContext }, next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  },
  /** Times the next `count` events. All watchers must have the same number of events. */
  time: (count: number): void => {
    from = events[0] as number;
    arrived = [];
    arrivals = Array.from({ length: count }, () => new Float64Array(events.length));
  },
  /** The time that 99 of 100 deliveries of the timed events took, ms. @throws Error when one never came */
  latency: (published: Float64Array): number => {
    const all = new Float64Array(published.length * events.length);
    for (const [at, began] of published.entries()) {
      const times = arrivals[at] as Float64Array;
      for (let index = 0; index < times.length; index++)
        all[at * times.length + index] = (times[index] as number) - began;
    }
    all.sort();
    if ((all[0] as number) < 0) throw new Error("an event that never came, or came before it was sent");
    return percentile(all, 0.99);
  },
  /** The fewest and the most events that a watcher has. */
  counts: () => ({ fewest: Math.min(...events), most: Math.max(...events) }),
  seen: () => seen,
};

export type Watchers = typeof commands;

serveCommands(commands);
