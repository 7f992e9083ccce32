import type { ConsoleMemory } from "@virtual-workspaces/console";

/** Request to the process that has the memory: keeps, finds and takes once the `Authorization` of a one-time code. */
export type MemoryRequest =
  | { readonly what: "keep"; readonly code: string; readonly authorization: string }
  | { readonly what: "find" | "take"; readonly code: string };

/** Answers a request of another process. */
export async function answerFrom(
  memory: Pick<ConsoleMemory, "keep" | "find" | "take">,
  request: MemoryRequest,
): Promise<unknown> {
  if (request.what === "keep") return memory.keep(request.code, request.authorization);
  if (request.what === "find") return memory.find(request.code);
  return memory.take(request.code);
}

/** Connection to the process that has the memory. */
interface MemoryChannel {
  send(request: MemoryRequest): Promise<unknown>;
  /** Announces a session that has ended in this process. */
  end(session: string): void;
}

/** Memory of the console in another process, which outlives this one. */
export class SharedMemory implements ConsoleMemory {
  readonly #channel: MemoryChannel;
  readonly #ended = new Set<string>();
  readonly #listeners: ((session: string) => void)[] = [];

  constructor(channel: MemoryChannel) {
    this.#channel = channel;
  }

  async keep(code: string, authorization: string): Promise<void> {
    await this.#channel.send({ what: "keep", code, authorization });
  }

  async find(code: string): Promise<string | undefined> {
    return (await this.#channel.send({ what: "find", code })) as string | undefined;
  }

  async take(code: string): Promise<boolean> {
    return (await this.#channel.send({ what: "take", code })) as boolean;
  }

  end(session: string): void {
    this.add([session]);
    this.#channel.end(session);
  }

  hasEnded(session: string): boolean {
    return this.#ended.has(session);
  }

  onEnd(listener: (session: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Adds sessions that have ended in other processes. */
  add(sessions: readonly string[]): void {
    for (const session of sessions) {
      const [oldest] = this.#ended.size >= MOST_ENDED ? this.#ended : [];
      if (oldest !== undefined) this.#ended.delete(oldest);
      this.#ended.add(session);
      for (const listener of this.#listeners) listener(session);
    }
  }
}

const MOST_ENDED = 10_000;
