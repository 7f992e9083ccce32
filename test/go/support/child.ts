// Runs test/go/quotes.fixture.ts.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestAuthority } from "../../_support/server.ts";
import type { Order, Report } from "../quotes.fixture.ts";

/** Server of quotes in a separate process. */
export class ChildServer implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  port = 0;
  /** Resource versions by key. */
  versions = new Map<string, string>();

  /** @param dir folder for the quotes @default none, quotes are in memory */
  constructor(dir?: string) {
    this.#process = fork(join(import.meta.dirname, "../quotes.fixture.ts"), dir === undefined ? [] : [dir], {
      execArgv: ["--conditions=@virtual-workspaces/source"],
    });
    this.#ended = once(this.#process, "exit");
  }

  /** Starts to serve, on any free port by default. */
  start({ ca, server }: TestAuthority, port = 0): Promise<void> {
    return this.#order({ start: { authority: { ca, server }, port } });
  }

  set(...names: string[]): Promise<void> {
    return this.#order({ set: names });
  }

  delete(...names: string[]): Promise<void> {
    return this.#order({ delete: names });
  }

  /** Kills it like a crash. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #order(order: Order): Promise<void> {
    const answer = once(this.#process, "message") as Promise<[Report]>;
    this.#process.send(order);
    const report = await Promise.race([answer, this.#ended.then(() => undefined)]);
    if (report === undefined) throw new Error("the server of quotes has exited");
    this.port = report[0].port;
    this.versions = new Map(report[0].versions);
  }
}
