// A user of a server that is shared: asks at a rate, whether the server keeps up or not, and times the answers.
import { connect, type Socket } from "node:net";
import { serveCommands } from "../_harness/commands.ts";
import { percentile } from "../_harness/statistics.ts";

interface Target {
  readonly port: number;
  /** That the requests are spread over: one that waits for an answer is asked nothing. */
  readonly connections: number;
}

interface Load {
  readonly request: Uint8Array;
  readonly perSecond: number;
}

/** How many connections are being made at a time: more than a listen queue holds would be refused. */
const AT_ONCE = 64;
/** What every socket reads into. */
const shared = Buffer.alloc(64 * 1024);

/** A connection that asks one thing at a time. Answers are small: each comes in one piece. */
class Line {
  readonly #socket: Socket;
  #due = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static open(port: number, free: Line[], tell: (code: string, took: number) => void): Promise<Line> {
    return new Promise((resolve, reject) => {
      const onread = {
        buffer: shared,
        callback: (): boolean => {
          tell(shared.toString("latin1", 9, 12), line.waited);
          free.push(line);
          return true;
        },
      };
      const socket = connect({ port, host: "127.0.0.1", noDelay: true, onread }, () => resolve(line));
      const line = new Line(socket);
      socket.once("error", reject);
    });
  }

  /** Since the request was due, ms. */
  get waited(): number {
    return performance.now() - this.#due;
  }

  ask(request: Uint8Array, due: number): void {
    this.#due = due;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }
}

let lines: Line[] = [];
let free: Line[] = [];
let answered: (code: string, took: number) => void = () => undefined;

/** Connects: under load a server accepts one connection in a turn of its event loop. */
async function open({ port, connections }: Target): Promise<void> {
  for (const line of lines) line.close();
  lines = [];
  free = [];
  const own = free;
  let opened = 0;
  const more = async (): Promise<void> => {
    while (opened++ < connections) lines.push(await Line.open(port, own, (code, took) => answered(code, took)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, more));
  own.push(...lines);
}

/** Asks until told to stop. */
function begin({ request, perSecond }: Load): void {
  const codes: Record<string, number> = {};
  const times: number[] = [];
  answered = (code, took) => {
    codes[code] = (codes[code] ?? 0) + 1;
    times.push(took);
  };
  const began = performance.now();
  let due = 0;
  let skipped = 0;
  const timer = setInterval(() => {
    for (const now = performance.now() - began; (due * 1000) / perSecond <= now; due++) {
      const line = free.pop();
      if (line === undefined) skipped += 1;
      else line.ask(request, began + (due * 1000) / perSecond);
    }
  }, 1);
  end = () => {
    clearInterval(timer);
    answered = () => undefined;
    // What waits has waited at least so long.
    for (const line of new Set(lines).difference(new Set(free))) times.push(line.waited);
    const seconds = (performance.now() - began) / 1000;
    return { codes, skipped, seconds, p99: percentile(Float64Array.from(times).sort(), 0.99) };
  };
}

let end = (): Asked => {
  throw new Error("nothing has begun");
};

const commands = { open, begin, end: () => end() };

/** What became of what was asked. */
export interface Asked {
  readonly codes: Readonly<Record<string, number>>;
  /** What would have been asked, had there been a connection for it. */
  readonly skipped: number;
  readonly seconds: number;
  /** From when a request was due to its answer, ms. */
  readonly p99: number;
}

export type User = typeof commands;

serveCommands(commands);
