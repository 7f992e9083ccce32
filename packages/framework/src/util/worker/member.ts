import { Worker } from "node:worker_threads";
import type { FromWorker } from "./answer.ts";
import type { Task } from "./task.ts";

export interface MemberOptions<Message, Reply> {
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
export class Member<Message, Reply> {
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
