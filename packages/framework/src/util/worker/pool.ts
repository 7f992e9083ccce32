import { Member } from "./member.ts";
import { type RunOptions, Task } from "./task.ts";

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
