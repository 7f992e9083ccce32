import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@virtual-workspaces/framework/server";
import { timerDelay } from "@virtual-workspaces/transport";
import { Failure } from "./failure.ts";
import { ConnectionHandover } from "./handover.ts";
import { BIN, environment } from "./programs.ts";

/** Message to a worker that every crew sends. */
export type ToCrewWorker =
  /** Accompanies a connection. */
  | { readonly type: "connection" }
  /** Fail /readyz for the shutdown delay, then end watches cleanly, complete requests and exit; all within `patience`, ms. */
  | { readonly type: "finish"; readonly patience: number };

/** Message of a worker that every crew understands. */
export type FromCrewWorker<Serving extends object> =
  /** Set up, without serving clients yet. */
  | ({ readonly type: "serving" } & Serving)
  /** A connection has arrived. Sent in the order of the connections. */
  | { readonly type: "taken" }
  | { readonly type: "failed"; readonly problem: string };

/** Options of a {@link Crew}. */
export interface CrewOptions<Serving extends object> {
  readonly count: number;
  /** Command of a worker, such as `serve:worker`. */
  readonly command: string;
  /** Called with each new worker and its place: sends it its options. */
  readonly begin: (worker: CrewWorker<Serving>, index: number) => void;
  /** Receives messages that the crew does not understand. */
  readonly receive: (message: object, worker: CrewWorker<Serving>) => void;
  /** Checks a worker that is set up. @throws Failure when it must be replaced */
  readonly admit?: (serving: Serving) => void;
  /** Called when the serving workers have changed, before new ones get clients. */
  readonly changed?: () => Promise<void>;
  readonly log: Log;
}

/** Time limit for a worker to shut down, ms: a little more than a server waits for requests in flight. */
const PATIENCE = 15_000;
/** Consecutive early ends after which workers are not restarted any more. */
const MOST_FAILURES = 3;
/** Lifetime from which an end is not early, ms. */
const SOON = 10_000;
/** Delay before the second restart in a row, ms. It doubles each time. */
const FIRST_PAUSE = 100;

/** Place of a worker, whose replacement takes the same place. */
interface Slot<Serving extends object> {
  readonly index: number;
  worker: CrewWorker<Serving>;
  /** Set while the worker serves. */
  serving: Serving | undefined;
  failures: number;
}

/** Worker processes of one command. Replaces those that end, and distributes clients among them in turn. */
export class Crew<Serving extends object> implements AsyncDisposable {
  readonly #options: CrewOptions<Serving>;
  readonly #slots: readonly Slot<Serving>[];
  readonly #given = Promise.withResolvers<never>();
  readonly #waiting: Socket[] = [];
  #ready: readonly Slot<Serving>[] = [];
  #turn = 0;
  #stopping = false;

  constructor(options: CrewOptions<Serving>) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => this.#slot(index));
    this.#given.promise.catch(() => undefined);
  }

  /** Rejects when a worker ends again and again; never resolves. @throws Failure */
  get failed(): Promise<never> {
    return this.#given.promise;
  }

  /** Workers that serve, by place. */
  get serving(): readonly {
    readonly index: number;
    readonly worker: CrewWorker<Serving>;
    readonly serving: Serving;
  }[] {
    return this.#slots.flatMap(({ index, worker, serving }) =>
      serving === undefined ? [] : [{ index, worker, serving }],
    );
  }

  /** Resolves when all workers are set up. @throws Failure when a worker fails */
  async start(): Promise<void> {
    await Promise.all(this.#slots.map(async (slot) => this.#began(slot, await slot.worker.serving)));
    for (const slot of this.#slots) void this.#keep(slot);
  }

  /** Gives clients to the workers that serve, after `changed`. */
  async meet(): Promise<void> {
    const serving = this.#slots.filter((slot) => slot.serving !== undefined);
    await this.#options.changed?.();
    this.#ready = serving.filter((slot) => slot.serving !== undefined);
    if (this.#ready.length > 0) for (const connection of this.#waiting.splice(0)) this.take(connection);
  }

  /** Hands a client to the next worker. Clients wait while there is none. */
  readonly take = (connection: Socket): void => {
    const slot = this.#ready[this.#turn++ % this.#ready.length];
    if (slot === undefined) this.#waiting.push(connection);
    else slot.worker.take(connection);
  };

  /** Begins the shutdown: workers fail /readyz, and still get clients for `time`, ms. */
  async drain(time: number): Promise<void> {
    if (time === 0) return;
    this.#stopping = true;
    const workers = this.#slots.map(({ worker }) => worker);
    for (const worker of workers) worker.drain(PATIENCE + time);
    const over = new AbortController();
    const waited = delay(timerDelay(time), undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([waited, Promise.all(workers.map(({ ended }) => ended))]);
    over.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    for (const connection of this.#waiting.splice(0)) connection.destroy();
    await Promise.all(this.#slots.map(({ worker }) => worker.finish(PATIENCE)));
  }

  #slot(index: number): Slot<Serving> {
    const { command, begin, receive } = this.#options;
    const worker = new CrewWorker<Serving>(command, receive);
    begin(worker, index);
    return { index, worker, serving: undefined, failures: 0 };
  }

  /** Records a worker as serving. @throws Failure when it must be replaced */
  #began(slot: Slot<Serving>, serving: Serving): void {
    try {
      this.#options.admit?.(serving);
    } catch (error) {
      slot.worker.kill();
      throw error;
    }
    slot.serving = serving;
  }

  async #keep(slot: Slot<Serving>): Promise<void> {
    for (;;) {
      const began = performance.now();
      const how = await slot.worker.ended;
      if (this.#stopping) return;
      slot.serving = undefined;
      this.#ready = this.#ready.filter((other) => other !== slot);
      slot.failures = performance.now() - began < SOON ? slot.failures + 1 : 1;
      this.#tell(slot, how);
      if (slot.failures > MOST_FAILURES) return this.#giveUp(how);
      await this.meet();
      if (slot.failures > 1) await delay(FIRST_PAUSE * 2 ** (slot.failures - 2), undefined, { ref: false });
      if (this.#stopping) return;
      slot.worker = this.#slot(slot.index).worker;
      await this.#replaced(slot);
    }
  }

  /** A worker that fails here also ends, which the caller waits for next. */
  async #replaced(slot: Slot<Serving>): Promise<void> {
    try {
      this.#began(slot, await slot.worker.serving);
      await this.meet();
    } catch (error) {
      this.#options.log({
        level: "error",
        message: "worker failed",
        worker: slot.index,
        error: (error as Error).message,
      });
    }
  }

  #tell({ index, failures }: Slot<Serving>, how: number | string): void {
    this.#options.log({
      level: "warn",
      message: "worker ended, restarting it",
      worker: index,
      how,
      failures,
    });
  }

  #giveUp(how: number | string): void {
    const message = `a worker ended ${MOST_FAILURES + 1} times in a row, within ${SOON / 1000} s each time, the last time with ${how}: read its output above for the reason`;
    this.#given.reject(new Failure(message));
  }
}

/** A worker, as the primary process sees it. */
export class CrewWorker<Serving extends object> {
  /** Resolves when the worker is set up. @throws Failure when it ends before */
  readonly serving: Promise<Serving>;
  /** Resolves to the exit code or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  readonly #handing: ConnectionHandover;

  constructor(command: string, receive: (message: object, worker: CrewWorker<Serving>) => void) {
    const worker = fork(BIN, [command], {
      ...{ env: environment(), stdio: ["ignore", "inherit", "inherit", "ipc"] },
      serialization: "advanced", // metrics may be infinite or no number
    });
    this.#process = worker;
    this.#handing = new ConnectionHandover(worker);
    const serving = Promise.withResolvers<Serving>();
    const ended = Promise.withResolvers<number | string>();
    worker.on("message", (message: FromCrewWorker<Serving>) => {
      if (message.type === "serving") serving.resolve(message);
      else if (message.type === "taken") this.#handing.taken();
      else if (message.type === "failed") serving.reject(new Failure(message.problem));
      else receive(message, this);
    });
    worker.once("exit", (code, signal) => {
      const how = signal ?? code ?? 0;
      serving.reject(new Failure(`a worker ended before it served (${how}): read its output above for the reason`));
      this.#handing.end();
      ended.resolve(how);
    });
    this.serving = serving.promise;
    this.ended = ended.promise;
    this.serving.catch(() => undefined); // callers that do not wait see the end of the process
  }

  /** Whether the worker can receive messages. */
  get connected(): boolean {
    return this.#process.connected;
  }

  /** Sends a message, unless the worker has ended. */
  send(message: object): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  /** Hands a client to the worker. */
  get take(): ConnectionHandover["hand"] {
    return this.#handing.hand;
  }

  /** Makes the worker shut down within `patience`, ms. */
  drain(patience: number): void {
    this.send({ type: "finish", patience } satisfies ToCrewWorker);
  }

  /** Ends watches cleanly, then the process; kills it after `patience`, ms. */
  async finish(patience: number): Promise<void> {
    this.drain(patience);
    const impatient = setTimeout(() => this.kill(), patience);
    await this.ended;
    clearTimeout(impatient);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
