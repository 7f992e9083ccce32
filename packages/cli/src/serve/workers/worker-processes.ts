import type { Socket } from "node:net";
import type { Log } from "@virtual-workspaces/framework/server";
import { Crew, type CrewWorker } from "../../process/crew.ts";
import { Failure } from "../../process/failure.ts";
import type { GroupTrust, MemberPlace, Serving, ToWorker } from "./worker-messages.ts";

export interface WorkerProcessesOptions {
  readonly count: number;
  /** Command line for each worker. */
  readonly args: readonly string[];
  readonly trust: GroupTrust;
  readonly log: Log;
}

/** Workers of this replica, which know each other and those of other replicas. */
export class WorkerProcesses implements AsyncDisposable {
  readonly #crew: Crew<Serving>;
  /** Callbacks for members that a worker has not confirmed yet. */
  readonly #meeting = new Map<CrewWorker<Serving>, (() => void)[]>();
  #name = "";
  #others: readonly MemberPlace[] = [];

  constructor({ count, args, trust, log }: WorkerProcessesOptions) {
    this.#crew = new Crew<Serving>({
      ...{ count, command: "serve:worker", log },
      begin: (worker) => {
        void worker.ended.then(() => this.#confirmAll(worker));
        worker.send({ type: "serve", args, trust } satisfies ToWorker);
      },
      receive: (_members, worker) => this.#meeting.get(worker)?.shift()?.(),
      admit: (serving) => this.#admit(serving),
      changed: () => this.#changed(),
    });
  }

  /** Rejects when a worker ends again and again; never resolves. @throws Failure */
  get failed(): Promise<never> {
    return this.#crew.failed;
  }

  /** Resolves when all workers are set up, to the paths of views. @throws Failure when a worker fails */
  async start(): Promise<readonly string[]> {
    await this.#crew.start();
    return this.#crew.serving[0]?.serving.views ?? [];
  }

  /** Starts to serve clients. @param name unique name of this replica */
  async open(name: string): Promise<void> {
    this.#name = name;
    await this.#crew.meet();
  }

  /** Sets the current workers of other replicas. */
  async join(others: readonly MemberPlace[]): Promise<void> {
    this.#others = others;
    const own = this.#crew.serving.find(({ serving }) => others.some(({ minter }) => minter === serving.minter));
    // Versions of two workers with the same minter would be ambiguous: the replica with the lower name replaces its own.
    if (own !== undefined && others.some(({ name }) => this.#name < name)) own.worker.kill();
    else await this.#crew.meet();
  }

  /** Hands a client to the next worker. Clients wait while there is none. */
  get take(): (connection: Socket) => void {
    return this.#crew.take;
  }

  /** Begins the shutdown: workers fail /readyz, and still get clients for `time`, ms. */
  drain(time: number): Promise<void> {
    return this.#crew.drain(time);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#crew[Symbol.asyncDispose]();
  }

  /** @throws Failure when another worker has the same minter (1 in 32,768), which makes versions ambiguous */
  #admit({ minter }: Serving): void {
    if (this.#crew.serving.some(({ serving }) => serving.minter === minter))
      throw new Failure("two workers chose the same number for their resource versions: start again");
  }

  /** Sends the members to all workers, and waits until they use them. */
  async #changed(): Promise<void> {
    const { serving } = this.#crew;
    const own = serving.map(({ index, serving: { minter, port } }) => ({
      name: `${this.#name}/${index}`,
      minter,
      at: port,
    }));
    const members = [...own, ...this.#others];
    await Promise.all(serving.map(({ worker }) => this.#tell(worker, members)));
  }

  async #tell(worker: CrewWorker<Serving>, members: readonly MemberPlace[]): Promise<void> {
    if (!worker.connected) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#meeting.get(worker) ?? [];
    this.#meeting.set(worker, waiting);
    waiting.push(resolve);
    worker.send({ type: "members", members } satisfies ToWorker);
    await promise;
  }

  #confirmAll(worker: CrewWorker<Serving>): void {
    for (const confirm of this.#meeting.get(worker) ?? []) confirm();
    this.#meeting.delete(worker);
  }
}
