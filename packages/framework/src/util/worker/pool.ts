import { Worker } from "node:worker_threads";
import type { FromWorker } from "./worker-answer.ts";

export interface WorkerPoolOptions {
  /** What the workers run; it ends with `answerMessages`. See {@link siblingModule}. */
  readonly module: URL;
  /** Of the threads, and in errors. */
  readonly name: string;
  /** How many threads there may be. @default 1 */
  readonly size?: number;
  /** How many tasks may wait for one. @default 16 */
  readonly queue?: number;
  /** How long a thread stays without a task, ms. @default 30000 */
  readonly idle?: number;
  /** The heap of a thread; a task that needs more ends its thread, and nothing else. @default 256 */
  readonly heapMiB?: number;
}

/**
 * Threads for work of unknown length: what takes longer than its budget is cut with its thread, and the next task gets
 * a new one. Threads start when there is something to do and end when there has been nothing for a while.
 */
export class WorkerPool<Message, Reply> implements AsyncDisposable {
  readonly #options: Required<WorkerPoolOptions>;
  readonly #members = new Set<Member<Message, Reply>>();
  /** Those without a task, the one used last at the end; and when each is let go. */
  readonly #free = new Map<Member<Message, Reply>, NodeJS.Timeout>();
  #waiting: Task<Message, Reply>[] = [];
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = { size: 1, queue: 16, idle: 30_000, heapMiB: 256, ...options };
  }

  /** Sends `message` to a worker. @throws WorkerError; the signal's reason */
  run(message: Message, options: RunOptions): Promise<Reply> {
    const task = new Task<Message, Reply>(message, options);
    const { name, queue, size } = this.#options;
    if (this.#closed) task.fail("ended", `${name}: closed`);
    else if (this.#free.size > 0 || this.#members.size < size) this.#assign(task);
    else if (this.#stillWaiting().length < queue) this.#waiting.push(task);
    else task.fail("busy", `${name}: ${queue} tasks are waiting already`);
    return task.result;
  }

  /** Ends all threads; tasks under way and waiting fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const task of this.#waiting.splice(0)) task.fail("ended", `${this.#options.name}: closed`);
    await Promise.all([...this.#members].map((member) => member.stop()));
  }

  #assign(task: Task<Message, Reply>): void {
    if (task.abandoned) return;
    const member = [...this.#free.keys()].at(-1) ?? this.#start();
    clearTimeout(this.#free.get(member));
    this.#free.delete(member);
    member.take(task);
  }

  #start(): Member<Message, Reply> {
    const { module, name, heapMiB } = this.#options;
    const member: Member<Message, Reply> = new Member({
      module,
      name,
      heapMiB,
      onFree: (freed) => this.#next(freed),
      onGone: (gone) => this.#lost(gone),
    });
    this.#members.add(member);
    return member;
  }

  #next(member: Member<Message, Reply>): void {
    const letGo = setTimeout(() => void member.stop(), this.#options.idle).unref();
    this.#free.set(member, letGo);
    this.#serveWaiting();
  }

  #lost(member: Member<Message, Reply>): void {
    this.#members.delete(member);
    clearTimeout(this.#free.get(member));
    this.#free.delete(member);
    if (!this.#closed) this.#serveWaiting();
  }

  #serveWaiting(): void {
    const task = this.#stillWaiting().shift();
    if (task !== undefined) this.#assign(task);
  }

  #stillWaiting(): Task<Message, Reply>[] {
    this.#waiting = this.#waiting.filter((task) => !task.abandoned);
    return this.#waiting;
  }
}

interface MemberOptions<Message, Reply> {
  readonly module: URL;
  readonly name: string;
  readonly heapMiB: number;
  /** It can take another task. */
  readonly onFree: (member: Member<Message, Reply>) => void;
  /** It has died, or is being killed, and takes no more. */
  readonly onGone: (member: Member<Message, Reply>) => void;
}

/** How many times its budget a task may take by the clock, while the processor is busy with others. */
const PATIENCE = 4;

/** One worker thread and the task that it is at. Keeps the process alive only while at one. */
class Member<Message, Reply> {
  readonly #worker: Worker;
  readonly #options: MemberOptions<Message, Reply>;
  #task: Task<Message, Reply> | undefined;
  /** Looks at what the task has used, and cuts it whatever it has used. */
  #clocks: NodeJS.Timeout[] = [];
  #ready = false;
  #gone = false;

  constructor(options: MemberOptions<Message, Reply>) {
    this.#options = options;
    this.#worker = new Worker(options.module, {
      name: options.name,
      resourceLimits: { maxOldGenerationSizeMb: options.heapMiB },
    });
    this.#worker.unref();
    this.#worker.on("message", (word: FromWorker) => this.#hear(word));
    this.#worker.on("error", (error) => this.#fall(error));
    this.#worker.on("exit", () => this.#fall(new Error("the worker has ended")));
  }

  /** Only when free. */
  take(task: Task<Message, Reply>): void {
    this.#task = task;
    this.#worker.ref();
    try {
      this.#worker.postMessage(task.message);
      if (this.#ready) this.#startClock(task);
    } catch (error) {
      this.#finish((unsent) => unsent?.fail("failed", `${this.#options.name}: the message cannot be sent`, error));
    }
  }

  /** Ends the thread, and with it its task. */
  async stop(): Promise<void> {
    const { name } = this.#options;
    this.#leave()?.fail("ended", `${name}: closed`);
    await this.#worker.terminate();
  }

  #hear(word: FromWorker): void {
    if (word.type === "ready") {
      this.#ready = true;
      if (this.#task !== undefined) this.#startClock(this.#task);
      return;
    }
    this.#finish((task) => {
      if (word.type === "reply") task?.resolve(word.reply as Reply);
      else task?.fail("failed", `${this.#options.name}: the task failed`, word.error);
    });
  }

  #finish(tell: (task: Task<Message, Reply> | undefined) => void): void {
    tell(this.#release());
    if (!this.#gone) this.#options.onFree(this);
  }

  #startClock(task: Task<Message, Reply>): void {
    const before = this.#worker.cpuUsage().catch(() => undefined);
    this.#clocks = [
      setTimeout(() => void this.#judge(task, before), task.budget),
      setTimeout(() => this.#overrun(task), PATIENCE * task.budget),
    ];
  }

  /** Grants the processor's time that other threads and programs have taken. */
  async #judge(task: Task<Message, Reply>, before: Promise<NodeJS.CpuUsage | undefined>): Promise<void> {
    const used = await this.#worker.cpuUsage(await before).catch(() => undefined);
    if (this.#task !== task) return;
    const left = used === undefined ? 0 : task.budget - (used.user + used.system) / 1000;
    if (left < 1) this.#overrun(task);
    else this.#clocks.push(setTimeout(() => void this.#judge(task, before), left));
  }

  #overrun(task: Task<Message, Reply>): void {
    // Behind a stall of this thread the reply may be here already, unheard: it is heard before the immediate runs.
    setImmediate(() => this.#task === task && this.#cut());
  }

  #cut(): void {
    const { name } = this.#options;
    this.#leave()?.fail("overrun", `${name}: the task took too long`);
    void this.#worker.terminate();
  }

  #fall(error: Error): void {
    const { name } = this.#options;
    this.#leave()?.fail("failed", `${name}: the worker died`, error);
  }

  /** @returns the task that it was at */
  #leave(): Task<Message, Reply> | undefined {
    const task = this.#release();
    if (!this.#gone) {
      this.#gone = true;
      this.#options.onGone(this);
    }
    return task;
  }

  #release(): Task<Message, Reply> | undefined {
    const task = this.#task;
    this.#task = undefined;
    for (const clock of this.#clocks.splice(0)) clearTimeout(clock);
    this.#worker.unref();
    return task;
  }
}

interface RunOptions {
  /**
   * The processor's time that the worker may take for it, ms; by the clock, four times as much. Neither waiting nor
   * starting a worker counts.
   */
  readonly budget: number;
  /** Whoever waits has left: a waiting task is dropped, a running one goes on unheard. */
  readonly signal?: AbortSignal | undefined;
}

/** A message and who waits for the reply. Settles once. */
class Task<Message, Reply> {
  readonly message: Message;
  readonly budget: number;
  readonly result: Promise<Reply>;
  readonly #settled: PromiseWithResolvers<Reply> = Promise.withResolvers<Reply>();
  readonly #signal: AbortSignal | undefined;
  readonly #leave = (): void => this.#settled.reject(this.#signal?.reason);

  constructor(message: Message, { budget, signal }: RunOptions) {
    this.message = message;
    this.budget = budget;
    this.#signal = signal;
    this.result = this.#settled.promise.finally(() => signal?.removeEventListener("abort", this.#leave));
    if (signal?.aborted === true) this.#leave();
    else signal?.addEventListener("abort", this.#leave, { once: true });
  }

  /** Whether nobody waits any more. */
  get abandoned(): boolean {
    return this.#signal?.aborted === true;
  }

  resolve(reply: Reply): void {
    this.#settled.resolve(reply);
  }

  fail(fault: WorkerFault, message: string, cause?: unknown): void {
    this.#settled.reject(new WorkerError(fault, message, cause === undefined ? undefined : { cause }));
  }
}

/**
 * Why a task has no result: `busy`, the queue is full; `overrun`, it took longer than its budget; `failed`, it threw, or
 * took the worker with it (out of memory); `ended`, the pool is closed.
 */
type WorkerFault = "busy" | "overrun" | "failed" | "ended";

/** What {@link WorkerPool.run} rejects with. Its caller knows which status that is. */
export class WorkerError extends Error {
  override readonly name: string = "WorkerError";
  readonly fault: WorkerFault;

  constructor(fault: WorkerFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }

  /** Whether the task needed more memory than its worker may have. */
  get isOutOfMemory(): boolean {
    return (this.cause as NodeJS.ErrnoException | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
  }
}

/**
 * The URL of a module beside `importer` (an `import.meta.url`), as whichever of the two runs: `.ts` from source, `.js`
 * as built. Only imports are rewritten when building, names of files are not.
 */
export function siblingModule(name: string, importer: string): URL {
  return new URL(`./${name}${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer);
}
