import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@virtual-workspaces/framework/server";
import { timerDelay } from "@virtual-workspaces/transport";
import { Failure } from "../../process/failure.ts";
import { ConnectionHandover } from "../../process/handover.ts";
import { BIN, environment } from "../../process/programs.ts";
import type { FromWorker, GroupTrust, MemberPlace, Serving, ToWorker } from "./worker-messages.ts";

export interface WorkerProcessesOptions {
  readonly count: number;
  /** Command line for each worker. */
  readonly args: readonly string[];
  readonly trust: GroupTrust;
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
interface Slot {
  readonly index: number;
  worker: WorkerProcess;
  /** Set while the worker serves. */
  serving: Serving | undefined;
  failures: number;
}

/** Workers of this replica. It replaces workers that end, and distributes clients among them in turn. */
export class WorkerProcesses implements AsyncDisposable {
  readonly #options: WorkerProcessesOptions;
  readonly #slots: readonly Slot[];
  readonly #given = Promise.withResolvers<never>();
  readonly #waiting: Socket[] = [];
  #name = "";
  #others: readonly MemberPlace[] = [];
  #ready: readonly Slot[] = [];
  #turn = 0;
  #stopping = false;

  constructor(options: WorkerProcessesOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => this.#slot(index));
    this.#given.promise.catch(() => undefined);
  }

  /** Rejects when a worker ends again and again; never resolves. @throws Failure */
  get failed(): Promise<never> {
    return this.#given.promise;
  }

  /** Resolves when all workers are set up, to the paths of views. @throws Failure when a worker fails */
  async start(): Promise<readonly string[]> {
    await Promise.all(this.#slots.map(async (slot) => this.#began(slot, await slot.worker.serving)));
    for (const slot of this.#slots) void this.#keep(slot);
    return this.#slots[0]?.serving?.views ?? [];
  }

  /** Starts to serve clients. @param name unique name of this replica */
  async open(name: string): Promise<void> {
    this.#name = name;
    await this.#meet();
  }

  /** Sets the current workers of other replicas. */
  async join(others: readonly MemberPlace[]): Promise<void> {
    this.#others = others;
    const own = this.#slots.find(({ serving }) => others.some(({ minter }) => minter === serving?.minter));
    // Versions of two workers with the same minter would be ambiguous: the replica with the lower name replaces its own.
    if (own !== undefined && others.some(({ name }) => this.#name < name)) own.worker.kill();
    else await this.#meet();
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

  #slot(index: number): Slot {
    const { args, trust } = this.#options;
    return { index, worker: new WorkerProcess(args, trust), serving: undefined, failures: 0 };
  }

  /** Records a worker as serving. @throws Failure when another one has the same minter (1 in 32,768), which makes versions ambiguous */
  #began(slot: Slot, serving: Serving): void {
    if (this.#slots.some((other) => other.serving?.minter === serving.minter)) {
      slot.worker.kill();
      throw new Failure("two workers chose the same number for their resource versions: start again");
    }
    slot.serving = serving;
  }

  /** Sends the members to all workers, then hands clients to them. */
  async #meet(): Promise<void> {
    const serving = this.#slots.filter((slot) => slot.serving !== undefined);
    const own = serving.map(({ index, serving: told }) => ({
      name: `${this.#name}/${index}`,
      minter: (told as Serving).minter,
      at: (told as Serving).port,
    }));
    const members = [...own, ...this.#others];
    await Promise.all(serving.map(({ worker }) => worker.meet(members)));
    this.#ready = serving.filter((slot) => slot.serving !== undefined);
    if (this.#ready.length > 0) for (const connection of this.#waiting.splice(0)) this.take(connection);
  }

  async #keep(slot: Slot): Promise<void> {
    for (;;) {
      const began = performance.now();
      const how = await slot.worker.ended;
      if (this.#stopping) return;
      slot.serving = undefined;
      this.#ready = this.#ready.filter((other) => other !== slot);
      slot.failures = performance.now() - began < SOON ? slot.failures + 1 : 1;
      this.#tell(slot, how);
      if (slot.failures > MOST_FAILURES) return this.#giveUp(how);
      await this.#meet();
      if (slot.failures > 1) await delay(FIRST_PAUSE * 2 ** (slot.failures - 2), undefined, { ref: false });
      if (this.#stopping) return;
      slot.worker = this.#slot(slot.index).worker;
      await this.#replaced(slot);
    }
  }

  /** A worker that fails here also ends, which the caller waits for next. */
  async #replaced(slot: Slot): Promise<void> {
    try {
      this.#began(slot, await slot.worker.serving);
      await this.#meet();
    } catch (error) {
      this.#options.log({
        level: "error",
        message: "worker failed",
        worker: slot.index,
        error: (error as Error).message,
      });
    }
  }

  #tell({ index, failures }: Slot, how: number | string): void {
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
class WorkerProcess {
  /** Resolves when the worker is set up. @throws Failure when it ends before */
  readonly serving: Promise<Serving>;
  /** Resolves to the exit code or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  readonly #handing: ConnectionHandover;
  /** Callbacks for members that the worker has not confirmed yet. */
  readonly #meeting: (() => void)[] = [];

  constructor(args: readonly string[], trust: GroupTrust) {
    const worker = fork(BIN, ["serve:worker"], { env: environment(), stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#process = worker;
    this.#handing = new ConnectionHandover(worker);
    const serving = Promise.withResolvers<Serving>();
    const ended = Promise.withResolvers<number | string>();
    worker.on("message", (message: FromWorker) => {
      if (message.type === "serving") serving.resolve(message);
      else if (message.type === "members") this.#meeting.shift()?.();
      else if (message.type === "taken") this.#handing.taken();
      else serving.reject(new Failure(message.problem));
    });
    worker.once("exit", (code, signal) => {
      const how = signal ?? code ?? 0;
      serving.reject(new Failure(`a worker ended before it served (${how}): read its output above for the reason`));
      this.#handing.end();
      for (const met of this.#meeting.splice(0)) met();
      ended.resolve(how);
    });
    this.serving = serving.promise;
    this.ended = ended.promise;
    this.serving.catch(() => undefined); // callers that do not wait see the end of the process
    this.#send({ type: "serve", args, trust });
  }

  /** Sends the members. Resolves when the worker uses them or has ended. */
  async meet(members: readonly MemberPlace[]): Promise<void> {
    if (!this.#process.connected) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#meeting.push(resolve);
    this.#send({ type: "members", members });
    await promise;
  }

  /** Hands a client to the worker. */
  get take(): ConnectionHandover["hand"] {
    return this.#handing.hand;
  }

  /** Makes the worker shut down within `patience`, ms. */
  drain(patience: number): void {
    this.#send({ type: "finish", patience });
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

  #send(message: ToWorker): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}
