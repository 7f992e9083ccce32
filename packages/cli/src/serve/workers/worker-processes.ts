import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "@virtual-workspaces/framework/server";
import { Failure } from "../../process/failure.ts";
import { ConnectionHandover } from "../../process/handover.ts";
import { BIN, environment } from "../../process/programs.ts";
import type { FromWorker, GroupTrust, MemberPlace, Serving, ToWorker } from "./worker-messages.ts";

export interface WorkerProcessesOptions {
  readonly count: number;
  /** The command line that each of them serves by. */
  readonly args: readonly string[];
  readonly trust: GroupTrust;
  readonly log: Log;
}

/** How long one may take to finish, ms: a little more than a server waits for what is under way. */
const PATIENCE = 15_000;
/** One that ends so often in a row, each time soon, will not do better. */
const MOST_FAILURES = 3;
/** How long one has to last for that not to count, ms. */
const SOON = 10_000;
/** Before the second one in a row is started, ms; doubled each time. */
const FIRST_PAUSE = 100;

/** Where a worker works: another takes its place. */
interface Slot {
  readonly index: number;
  worker: WorkerProcess;
  /** Set while it serves. */
  serving: Serving | undefined;
  failures: number;
}

/** The workers of this replica. One that ends is replaced; clients are handed to them in turn. */
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

  /** Resolves never. @throws Failure when a worker ends again and again */
  get failed(): Promise<never> {
    return this.#given.promise;
  }

  /** Resolves when all are set up, to the paths of views. @throws Failure when one cannot be */
  async start(): Promise<readonly string[]> {
    await Promise.all(this.#slots.map(async (slot) => this.#began(slot, await slot.worker.serving)));
    for (const slot of this.#slots) void this.#keep(slot);
    return this.#slots[0]?.serving?.views ?? [];
  }

  /** Clients are served from now on. @param name of this replica, unlike all others' */
  async open(name: string): Promise<void> {
    this.#name = name;
    await this.#meet();
  }

  /** Workers of other replicas, as they are now. */
  async join(others: readonly MemberPlace[]): Promise<void> {
    this.#others = others;
    const own = this.#slots.find(({ serving }) => others.some(({ minter }) => minter === serving?.minter));
    // What two give nobody could tell apart. Of two replicas one has the lower name.
    if (own !== undefined && others.some(({ name }) => this.#name < name)) own.worker.kill();
    else await this.#meet();
  }

  /** Hands a client to the next one; while there is none they wait. */
  readonly take = (connection: Socket): void => {
    const slot = this.#ready[this.#turn++ % this.#ready.length];
    if (slot === undefined) this.#waiting.push(connection);
    else slot.worker.take(connection);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    for (const connection of this.#waiting.splice(0)) connection.destroy();
    await Promise.all(this.#slots.map(({ worker }) => worker.finish(PATIENCE)));
  }

  #slot(index: number): Slot {
    const { args, trust } = this.#options;
    return { index, worker: new WorkerProcess(args, trust), serving: undefined, failures: 0 };
  }

  /** @throws Failure when another has the same minter, which nobody could tell apart: one of 32,768 has */
  #began(slot: Slot, serving: Serving): void {
    if (this.#slots.some((other) => other.serving?.minter === serving.minter)) {
      slot.worker.kill();
      throw new Failure("two workers would have numbered their versions alike: start once more");
    }
    slot.serving = serving;
  }

  /** Tells all who there is; then they are handed clients. */
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

  /** Whoever does not get so far ends, which is waited for next. */
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
      message: "worker ended, another takes its place",
      worker: index,
      how,
      failures,
    });
  }

  #giveUp(how: number | string): void {
    const message = `a worker ended ${MOST_FAILURES + 1} times in a row, within ${SOON / 1000} s each time, at last with ${how}: what it wrote above says why`;
    this.#given.reject(new Failure(message));
  }
}

/** A worker, seen from the first process. */
class WorkerProcess {
  /** Resolves when it is set up. @throws Failure when it ends before */
  readonly serving: Promise<Serving>;
  /** Resolves to the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  readonly #handing: ConnectionHandover;
  /** Told of members, and not yet heard of. */
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
      serving.reject(new Failure(`a worker ended before it served (${how})`));
      this.#handing.end();
      for (const met of this.#meeting.splice(0)) met();
      ended.resolve(how);
    });
    this.serving = serving.promise;
    this.ended = ended.promise;
    this.serving.catch(() => undefined); // whoever does not wait learns of it by the end
    this.#send({ type: "serve", args, trust });
  }

  /** Tells it who there is. Resolves when that counts there, or it is gone. */
  async meet(members: readonly MemberPlace[]): Promise<void> {
    if (!this.#process.connected) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#meeting.push(resolve);
    this.#send({ type: "members", members });
    await promise;
  }

  /** Hands a client over. */
  get take(): ConnectionHandover["hand"] {
    return this.#handing.hand;
  }

  /** Ends watches cleanly, and then the process: by force after `patience` ms. */
  async finish(patience: number): Promise<void> {
    this.#send({ type: "finish", patience });
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
