import { type ChildProcess, fork } from "node:child_process";
import module from "node:module";
import type { Socket } from "node:net";
import { dirname, extname, join } from "node:path";
import { Failure } from "../usage.ts";
import type { FromWorker, Loaded, Site, ToWorker } from "./messages.ts";

const BIN = join(dirname(import.meta.dirname), `bin${extname(import.meta.filename)}`);

/** One process that serves the modules as they were when it started. */
export class Generation {
  /** Resolves when the modules are loaded. @throws Failure when they cannot be */
  readonly loaded: Promise<Loaded>;
  /** Resolves to the exit code, or the signal's name, when the process is gone. */
  readonly ended: Promise<number | string>;
  readonly #worker: ChildProcess;
  readonly #serving: Promise<void>;

  constructor(paths: readonly string[], onFiles: (files: readonly string[]) => void) {
    const worker = fork(BIN, ["dev:worker", ...paths], {
      env: environment(),
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#worker = worker;
    const loaded = Promise.withResolvers<Loaded>();
    const serving = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<number | string>();
    const fail = (problem: string): void => {
      loaded.reject(new Failure(problem));
      serving.reject(new Failure(problem));
    };
    worker.on("message", (message: FromWorker) => {
      if (message.type === "files") onFiles(message.files);
      else if (message.type === "loaded") loaded.resolve(message.loaded);
      else if (message.type === "serving") serving.resolve();
      else fail(message.problem);
    });
    worker.once("exit", (code, signal) => {
      fail(`the process that loads the modules ended with ${signal ?? `exit code ${code}`}`);
      ended.resolve(signal ?? code ?? 0);
    });
    this.loaded = loaded.promise;
    this.#serving = serving.promise;
    this.ended = ended.promise;
    // Whoever does not wait for one of them learns of its failure from another.
    for (const promise of [this.loaded, this.#serving]) promise.catch(() => undefined);
  }

  /** Sets up what was loaded. @throws Failure when that cannot be */
  serve(site: Site): Promise<void> {
    this.#send({ type: "serve", site });
    return this.#serving;
  }

  /** Hands a connection over. */
  readonly take = (connection: Socket): void => {
    if (this.#worker.connected) this.#send({ type: "connection" }, connection);
    else connection.destroy();
  };

  /** Ends watches cleanly and the process soon after; a process that does not obey within `patience` ms is killed. */
  async finish(patience: number): Promise<void> {
    this.#send({ type: "finish" });
    const impatient = setTimeout(() => this.kill(), patience);
    await this.ended;
    clearTimeout(impatient);
  }

  kill(): void {
    this.#worker.kill("SIGKILL");
  }

  #send(message: ToWorker, connection?: Socket): void {
    // A process that is gone has been heard of by its exit.
    if (this.#worker.connected) this.#worker.send(message, connection, undefined, () => undefined);
  }
}

/** The worker keeps its compiled code where this process does. */
function environment(): NodeJS.ProcessEnv {
  const cache = module.getCompileCacheDir();
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}
