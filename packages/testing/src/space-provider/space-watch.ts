import type { RequestLine } from "../http/answer.ts";
import { NothingCame, type WatchStream } from "../http/watch-stream.ts";
import type { Bodies } from "./space-bodies.ts";

/** A watch, and what it has said so far. */
export class SpaceWatch implements Disposable {
  readonly #stream: WatchStream;
  readonly #bodies: Bodies;
  readonly #events: { readonly type?: unknown; readonly name?: unknown }[] = [];

  constructor(stream: WatchStream, bodies: Bodies) {
    this.#stream = stream;
    this.#bodies = bodies;
  }

  get request(): RequestLine {
    return this.#stream.request;
  }

  /** How much it has said. */
  get length(): number {
    return this.#events.length;
  }

  /** Takes what it says, until it has said that a space has changed, or any, since it had said so much. @returns false: not within this time, ms */
  async change(name: string, since: number, within: number): Promise<boolean> {
    const until = performance.now() + within;
    const is = ({ type, name: told = name }: { readonly type?: unknown; readonly name?: unknown }): boolean =>
      type === "CHANGED" && told === name;
    while (!this.#events.slice(since).some(is)) {
      const left = until - performance.now();
      if (left <= 0 || !(await this.next(left))) return false;
    }
    return true;
  }

  /** Takes the next line. @returns false: there is none within this time, ms @throws CheckFailure, StreamCut */
  async next(within: number): Promise<boolean> {
    try {
      const line = await this.#stream.line(within);
      if (line === undefined) return false;
      this.#events.push(this.#bodies.value("SpaceEvent", this.request, parsed(line)));
      return true;
    } catch (error) {
      if (error instanceof NothingCame) return false;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
