import cluster, { type Worker } from "node:cluster";
import { Failure } from "../usage.ts";
import type { FromWorker, Loaded, Site, ToWorker } from "./messages.ts";

/** One process that serves the modules as they were when it started. */
export class Generation {
  /** Resolves when the modules are loaded. @throws Failure when they cannot be */
  readonly loaded: Promise<Loaded>;
  /** Resolves to the exit code, or the signal's name, when the process is gone. */
  readonly ended: Promise<number | string>;
  readonly #worker: Worker;
  readonly #serving: Promise<number>;
  #gone = false;

  constructor(onFiles: (files: readonly string[]) => void) {
    const worker = cluster.fork();
    this.#worker = worker;
    const loaded = Promise.withResolvers<Loaded>();
    const serving = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<number | string>();
    const fail = (problem: string): void => {
      loaded.reject(new Failure(problem));
      serving.reject(new Failure(problem));
    };
    worker.on("message", (message: FromWorker) => {
      if (message.type === "files") onFiles(message.files);
      else if (message.type === "loaded") loaded.resolve(message.loaded);
      else if (message.type === "serving") serving.resolve(message.port);
      else fail(message.problem);
    });
    worker.once("exit", (code, signal) => {
      this.#gone = true;
      fail(`the process that loads the modules ended with ${signal ?? `exit code ${code}`}`);
      ended.resolve(signal ?? code);
    });
    this.loaded = loaded.promise;
    this.#serving = serving.promise;
    this.ended = ended.promise;
    // Whoever does not wait for one of them learns of its failure from another.
    for (const promise of [this.loaded, this.#serving]) promise.catch(() => undefined);
  }

  /** Begins to serve. @returns the port @throws Failure when it cannot */
  serve(site: Site): Promise<number> {
    this.#send({ type: "serve", ...site });
    return this.#serving;
  }

  /** Ends watches cleanly and the process soon after; a process that does not obey within `patience` ms is killed. */
  async finish(patience: number): Promise<void> {
    this.#send({ type: "finish" });
    const impatient = setTimeout(() => this.kill(), patience);
    await this.ended;
    clearTimeout(impatient);
  }

  kill(): void {
    if (!this.#gone) this.#worker.process.kill("SIGKILL");
  }

  #send(message: ToWorker): void {
    if (!this.#gone && this.#worker.isConnected()) this.#worker.send(message);
  }
}
