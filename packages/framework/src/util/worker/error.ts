/**
 * Why a task has no result: `busy`, the queue is full; `overrun`, it took longer than its budget; `failed`, it threw, or
 * took the worker with it (out of memory); `ended`, the pool is closed.
 */
export type WorkerFault = "busy" | "overrun" | "failed" | "ended";

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
