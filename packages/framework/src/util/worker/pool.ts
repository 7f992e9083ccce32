import { Worker } from "node:worker_threads";
import type { FromWorker } from "./worker-answer.ts";

export interface WorkerPoolOptions {
  /** Module that the workers run; it ends with `answerMessages`. See {@link siblingModule}. */
  readonly module: URL;
  /** Name of the threads, also in errors. */
  readonly name: string;
  /** Maximum number of threads. @default 1 */
  readonly size?: number;
  /** Maximum number of tasks that wait for a thread. @default 16 */
  readonly queue?: number;
  /** How long a thread stays without a task, in ms. @default 30000 */
  readonly idle?: number;
  /** Heap of a thread, in MiB. A task that needs more ends its thread, and nothing else. @default 256 */
  readonly heapMiB?: number;
}

/**
 * Threads for work of unknown length. A task that exceeds its budget is stopped with its thread, and the next task gets a new
 * one. Threads start on demand and end when idle.
 */
export class WorkerPool<Message, Reply> implements AsyncDisposable {
  readonly #options: Required<WorkerPoolOptions>;
  readonly #members = new Set<Member<Message, Reply>>();
  /** Threads without a task, the one used last at the end, with their idle timers. */
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

  /** Ends all threads; running and waiting tasks fail. */
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
  /** Called when the thread can take another task. */
  readonly onFree: (member: Member<Message, Reply>) => void;
  /** Called when the thread has died or is being stopped, and takes no more tasks. */
  readonly onGone: (member: Member<Message, Reply>) => void;
}

/** Multiple of its budget that a task may take in wall-clock time, while the processor is busy with others. */
const PATIENCE = 4;

/** One worker thread and its task. Keeps the process alive only while it has one. */
class Member<Message, Reply> {
  readonly #worker: Worker;
  readonly #options: MemberOptions<Message, Reply>;
  #task: Task<Message, Reply> | undefined;
  /** Timers that check the CPU time of the task, and that stop it regardless. */
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
    this.#worker.on("exit", () => this.#fall(new Error("the worker exited")));
  }

  /** Starts a task; the member must be free. */
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

  /** Ends the thread and its task. */
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

  /** Extends the time by the CPU time that other threads and programs have taken. */
  async #judge(task: Task<Message, Reply>, before: Promise<NodeJS.CpuUsage | undefined>): Promise<void> {
    const used = await this.#worker.cpuUsage(await before).catch(() => undefined);
    if (this.#task !== task) return;
    const left = used === undefined ? 0 : task.budget - (used.user + used.system) / 1000;
    if (left < 1) this.#overrun(task);
    else this.#clocks.push(setTimeout(() => void this.#judge(task, before), left));
  }

  #overrun(task: Task<Message, Reply>): void {
    // After a stall of this thread the reply may have arrived already: its event runs before the immediate.
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

  /** @returns the task of the thread */
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
  /** CPU time that the task may take, in ms; four times as much in wall-clock time. Neither waiting nor starting a worker counts. */
  readonly budget: number;
  /** Aborts when the caller stops waiting: a waiting task is dropped, the reply of a running one is ignored. */
  readonly signal?: AbortSignal | undefined;
}

/** A message and the promise of its reply. Settles once. */
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

  /** Whether the caller has stopped waiting. */
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
 * Reason why a task has no result. The queue is full (`busy`), or the pool is closed (`ended`). The task exceeded its budget
 * (`overrun`), or it threw or ran out of memory (`failed`).
 */
type WorkerFault = "busy" | "overrun" | "failed" | "ended";

/** Error that {@link WorkerPool.run} rejects with. Its caller chooses the HTTP status. */
export class WorkerError extends Error {
  override readonly name: string = "WorkerError";
  readonly fault: WorkerFault;

  constructor(fault: WorkerFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }

  /** Whether the task needed more memory than its worker has. */
  get isOutOfMemory(): boolean {
    return (this.cause as NodeJS.ErrnoException | undefined)?.code === "ERR_WORKER_OUT_OF_MEMORY";
  }
}

/**
 * Returns the URL of a module beside `importer` (an `import.meta.url`): `.ts` from source, `.js` when built. A build rewrites
 * imports only, not names of files.
 */
export function siblingModule(name: string, importer: string): URL {
  return new URL(`./${name}${importer.endsWith(".ts") ? ".ts" : ".js"}`, importer);
}
