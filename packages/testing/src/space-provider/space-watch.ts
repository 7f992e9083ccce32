import type { RequestLine } from "../http/answer.ts";
import { NothingCame, type WatchStream } from "../http/watch-stream.ts";
import type { Bodies } from "./space-bodies.ts";

/** Watch with the lines that it has received so far. */
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

  /** Number of lines so far. */
  get length(): number {
    return this.#events.length;
  }

  /**
   * Reads lines until one reports a change of this space, or of any space, after the first `since` lines.
   * @returns false if none arrives within this time, in ms
   */
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

  /** Reads the next line. @returns false if none arrives within this time, in ms @throws CheckFailure, StreamCut */
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
