// Why: what is measured runs in a process of its own, so that the load generator's work is not counted as the server's.
// The bench asks it by name over Node's own channel to a forked process; ../_harness/remote.ts is the other end.

/** What a process can be asked for. Arguments and answers are cloned. */
export type Commands = Readonly<Record<string, (argument: never) => unknown>>;

export interface Question {
  readonly id: number;
  readonly command: string;
  readonly argument: unknown;
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string }
  /** Not an answer: something that happened. */
  | { readonly event: string; readonly value: unknown };

/** What every process answers, besides its own commands. */
export const own = {
  /** CPU time used so far, user and system, all threads, µs. */
  cpu: (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  /** Bytes held after a full collection. Needs `--expose-gc`. */
  memory: async (): Promise<{ readonly held: number; readonly rss: number }> => {
    if (globalThis.gc === undefined) throw new Error("start the process with --expose-gc");
    // Finalizers of what was collected run between the two, and free what lies outside of the heap.
    for (let round = 0; round < 3; round++) {
      globalThis.gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    return { held: heapUsed + external, rss };
  },
};

/** Answers questions until the bench goes away, then ends the process. */
export function serveCommands(commands: Commands): void {
  const all: Commands = { ...own, ...commands };
  process.on("message", (question: Question) => void answer(all, question));
  process.once("disconnect", () => process.exit());
  notify("ready", undefined);
}

/** Tells the bench of something that it did not ask for. */
export function notify(event: string, value: unknown): void {
  send({ event, value });
}

async function answer(commands: Commands, { id, command, argument }: Question): Promise<void> {
  try {
    send({ id, value: await commands[command]?.(argument as never) });
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function send(reply: Reply): void {
  process.send?.(reply);
}
