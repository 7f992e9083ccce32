import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter } from "node:events";
import module from "node:module";
import type { Socket } from "node:net";
import { dirname, extname, join } from "node:path";
import { Failure } from "../usage.ts";
import type { FromWorker, Loaded, Site, ToWorker } from "./messages.ts";

const BIN = join(dirname(import.meta.dirname), `bin${extname(import.meta.filename)}`);

/** One process that serves the modules as they were when it started. */
export class Generation {
  /** Resolves when the modules are there, to whether one of them wants the host. @throws Failure when they cannot be loaded */
  readonly imported: Promise<{ readonly hosted: boolean }>;
  /** Resolves to the exit code, or the signal's name, when the process is gone. */
  readonly ended: Promise<number | string>;
  readonly #worker: ChildProcess;
  readonly #answers = new EventEmitter<{ serving: [Loaded]; released: []; failed: [Failure] }>();
  /**
   * Connections on their way, kept open here as well until they have arrived: Node would keep those of a process that dies
   * meanwhile for ever, and so would their clients.
   */
  readonly #handing: Socket[] = [];
  #failure: Failure | undefined;

  constructor(paths: readonly string[], onFiles: (files: readonly string[]) => void) {
    const worker = fork(BIN, ["dev:worker", ...paths], {
      env: environment(),
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#worker = worker;
    const imported = Promise.withResolvers<{ readonly hosted: boolean }>();
    const ended = Promise.withResolvers<number | string>();
    const fail = (problem: string): void => {
      this.#failure ??= new Failure(problem);
      imported.reject(this.#failure);
      this.#answers.emit("failed", this.#failure);
    };
    worker.on("message", (message: FromWorker) => {
      if (message.type === "files") onFiles(message.files);
      else if (message.type === "imported") imported.resolve(message);
      else if (message.type === "serving") this.#answers.emit("serving", message.loaded);
      else if (message.type === "taken") this.#handing.shift()?.destroy();
      else if (message.type === "released") this.#answers.emit("released");
      else fail(message.problem);
    });
    worker.once("exit", (code, signal) => {
      fail(`the process that loads the modules ended with ${signal ?? `exit code ${code}`}`);
      for (const connection of this.#handing) connection.destroy();
      ended.resolve(signal ?? code ?? 0);
    });
    this.imported = imported.promise;
    this.ended = ended.promise;
    // Whoever does not wait for it learns of the failure otherwise.
    this.imported.catch(() => undefined);
  }

  /** Sets up what was imported, again after a release. @throws Failure when that cannot be, which ends the process */
  serve(site: Site): Promise<Loaded> {
    const { promise, resolve, reject } = Promise.withResolvers<Loaded>();
    if (this.#failure !== undefined) reject(this.#failure);
    this.#answers.once("serving", resolve).once("failed", reject);
    this.#send({ type: "serve", site });
    return promise.finally(() => this.#answers.off("serving", resolve).off("failed", reject));
  }

  /** Hands a connection over. */
  readonly take = (connection: Socket): void => {
    if (!this.#worker.connected) {
      connection.destroy();
      return;
    }
    this.#handing.push(connection);
    this.#send({ type: "connection" }, connection);
  };

  /** Ends watches cleanly and lets go of the store; a process that does not obey within `patience` ms is killed. */
  async release(patience: number): Promise<void> {
    const released = Promise.withResolvers<void>();
    this.#answers.once("released", released.resolve);
    await this.#order("release", { done: Promise.race([released.promise, this.ended]), patience });
  }

  /** The same, and ends the process. */
  async finish(patience: number): Promise<void> {
    await this.#order("finish", { done: this.ended, patience });
  }

  kill(): void {
    this.#worker.kill("SIGKILL");
  }

  async #order(
    type: "release" | "finish",
    { done, patience }: { readonly done: Promise<unknown>; readonly patience: number },
  ): Promise<void> {
    this.#send({ type, patience });
    const impatient = setTimeout(() => this.kill(), patience);
    await done;
    clearTimeout(impatient);
  }

  #send(message: ToWorker, connection?: Socket): void {
    // A process that is gone has been heard of by its exit.
    if (this.#worker.connected) this.#worker.send(message, connection, { keepOpen: true }, () => undefined);
  }
}

/** The worker keeps its compiled code where this process does. */
function environment(): NodeJS.ProcessEnv {
  const cache = module.getCompileCacheDir();
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}
