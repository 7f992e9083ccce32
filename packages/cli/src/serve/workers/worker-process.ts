import { type ChildProcess, fork } from "node:child_process";
import { environment } from "../../dev/generation.ts";
import { Handing } from "../../handing.ts";
import { BIN } from "../../programs.ts";
import { Failure } from "../../usage.ts";
import type { FromWorker, GroupTrust, MemberPlace, Serving, ToWorker } from "./messages.ts";

/** A worker, seen from the first process. */
export class WorkerProcess {
  /** Resolves when it is set up. @throws Failure when it ends before */
  readonly serving: Promise<Serving>;
  /** Resolves to the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly #process: ChildProcess;
  readonly #handing: Handing;
  /** Told of members, and not yet heard of. */
  readonly #meeting: (() => void)[] = [];

  constructor(args: readonly string[], trust: GroupTrust) {
    const worker = fork(BIN, ["serve:worker"], { env: environment(), stdio: ["ignore", "inherit", "inherit", "ipc"] });
    this.#process = worker;
    this.#handing = new Handing(worker);
    const serving = Promise.withResolvers<Serving>();
    const ended = Promise.withResolvers<number | string>();
    worker.on("message", (message: FromWorker) => {
      if (message.type === "serving") serving.resolve(message);
      else if (message.type === "members") this.#meeting.shift()?.();
      else if (message.type === "taken") this.#handing.taken();
      else serving.reject(new Failure(message.problem));
    });
    worker.once("exit", (code, signal) => {
      const how = signal ?? code ?? 0;
      serving.reject(new Failure(`a worker ended before it served (${how})`));
      this.#handing.end();
      for (const met of this.#meeting.splice(0)) met();
      ended.resolve(how);
    });
    this.serving = serving.promise;
    this.ended = ended.promise;
    this.serving.catch(() => undefined); // whoever does not wait learns of it by the end
    this.#send({ type: "serve", args, trust });
  }

  /** Tells it who there is. Resolves when that counts there, or it is gone. */
  async meet(members: readonly MemberPlace[]): Promise<void> {
    if (!this.#process.connected) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#meeting.push(resolve);
    this.#send({ type: "members", members });
    await promise;
  }

  /** Hands a client over. */
  get take(): Handing["hand"] {
    return this.#handing.hand;
  }

  /** Ends watches cleanly, and then the process: by force after `patience` ms. */
  async finish(patience: number): Promise<void> {
    this.#send({ type: "finish", patience });
    const impatient = setTimeout(() => this.kill(), patience);
    await this.ended;
    clearTimeout(impatient);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #send(message: ToWorker): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }
}
