import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Failure } from "../process/failure.ts";
import { ConnectionHandover } from "../process/handover.ts";
import { respondTo } from "../process/ipc-requests.ts";
import { BIN, environment } from "../process/programs.ts";
import type { DevConsole } from "./dev-console.ts";
import type { FromWorker, Loaded, Site, ToWorker } from "./dev-messages.ts";

/** Files of a user need no package.json with a type: Node.js finds out itself that they are ES modules. */
const QUIET = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON";

interface GenerationOptions {
  readonly paths: readonly string[];
  readonly console: DevConsole | undefined;
  /** Gets the files of the module graph, as they are loaded. */
  onFiles(files: readonly string[]): void;
  /** A session of the console has ended in this process. */
  onEnd(session: string): void;
}

/** A process that serves the modules as they were when it started. */
export class Generation {
  /** Resolves when the modules are loaded; `hosted`: whether one needs the host. @throws Failure when they cannot be loaded */
  readonly imported: Promise<{ readonly hosted: boolean }>;
  /** Resolves to the exit code or the signal's name when the process has ended. */
  readonly ended: Promise<number | string>;
  readonly #worker: ChildProcess;
  readonly #answers = new EventEmitter<{ serving: [Loaded]; released: []; failed: [Failure] }>();
  readonly #handing: ConnectionHandover;
  readonly #console: DevConsole | undefined;
  #failure: Failure | undefined;
  #fault: string | undefined;

  constructor({ paths, console: page, onFiles, onEnd }: GenerationOptions) {
    this.#console = page;
    const worker = fork(BIN, ["dev:worker", ...paths], {
      env: environment(),
      execArgv: [...process.execArgv, QUIET],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#worker = worker;
    this.#handing = new ConnectionHandover(worker);
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
      else if (message.type === "taken") this.#handing.taken();
      else if (message.type === "dying") this.#fault = message.problem;
      else if (message.type === "released") this.#answers.emit("released");
      else if (message.type === "ended") onEnd(message.session);
      else if (message.type === "request")
        void respondTo(
          message.id,
          async () => page?.answer(message.request),
          (answer) => this.#send(answer),
        );
      else fail(message.problem);
    });
    worker.once("exit", (code, signal) => {
      fail(`the process that loads the modules ended with ${signal ?? `exit code ${code}`}`);
      this.#handing.end();
      ended.resolve(signal ?? code ?? 0);
    });
    this.imported = imported.promise;
    this.ended = ended.promise;
    // Callers that do not wait for it get the failure from another method.
    this.imported.catch(() => undefined);
  }

  /** Sets up the imported modules, again after a release. @throws Failure when that fails, which ends the process */
  serve(site: Site): Promise<Loaded> {
    const { promise, resolve, reject } = Promise.withResolvers<Loaded>();
    if (this.#failure !== undefined) reject(this.#failure);
    this.#answers.once("serving", resolve).once("failed", reject);
    this.#send({ type: "serve", site, endedSessions: this.#console?.ended ?? [] });
    return promise.finally(() => this.#answers.off("serving", resolve).off("failed", reject));
  }

  /** Error that has ended the process, if it could be read. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Hands a connection to the process. */
  get take(): (connection: Socket) => void {
    return this.#handing.hand;
  }

  /** Ends watches cleanly and releases the store. Kills a process that takes longer than `patience`, ms. */
  async release(patience: number): Promise<void> {
    const released = Promise.withResolvers<void>();
    this.#answers.once("released", released.resolve);
    await this.#order("release", { done: Promise.race([released.promise, this.ended]), patience });
  }

  /** Does the same, and ends the process. */
  async finish(patience: number): Promise<void> {
    await this.#order("finish", { done: this.ended, patience });
  }

  /** Ends a session of the console that has ended in another process. */
  endSession(session: string): void {
    this.#send({ type: "ended", session });
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

  #send(message: ToWorker): void {
    // The exit event reports a process that has ended.
    if (this.#worker.connected) this.#worker.send(message, () => undefined);
  }
}
