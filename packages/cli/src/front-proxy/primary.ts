import { createConsoleMemory } from "@virtual-workspaces/console";
import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { CLUSTERS_PATH, type IndexConnection, SharedIndex } from "@virtual-workspaces/front-proxy";
import { Upstream } from "@virtual-workspaces/transport";
import { Crew, type CrewWorker } from "../process/crew.ts";
import { orFail } from "../process/failure.ts";
import { Interrupt } from "../process/interrupt.ts";
import { IpcRequests, respondTo } from "../process/ipc-requests.ts";
import { logWarnings } from "../process/log.ts";
import { withKey } from "../server/console.ts";
import { answerFrom } from "../server/console-memory.ts";
import { tellReady } from "../server/listening.ts";
import { SharedPort } from "../server/shared-port.ts";
import { kubeconfigUpstream } from "../server/upstreams.ts";
import type { FrontProxyCommand } from "./front-proxy-options.ts";
import { shardAccess } from "./proxy.ts";
import type { FromWorker, PrimaryRequest, Serving, ToWorker, WorkerRequest } from "./workers/messages.ts";
import { RecentFailures } from "./workers/recent-failures.ts";
import { SharedAudit } from "./workers/shared-audit.ts";
import { SummedMetrics } from "./workers/summed-metrics.ts";

/**
 * Serves with several processes until a signal stops this one, which holds the index and serves no requests itself.
 *
 * @param args the whole command line, which the workers read again
 * @returns the exit code
 * @throws Failure
 */
export async function serveWithWorkers(args: readonly string[], options: FrontProxyCommand): Promise<number> {
  const { log, closeDelay } = options;
  await using stack = new AsyncDisposableStack();
  stack.use(log);
  stack.use(logWarnings(options));
  const interrupt = stack.use(new Interrupt());
  const index = await openIndex(options, stack);
  const audit = options.audit && stack.use(await SharedAudit.open(options.audit, log));
  const primary = new Primary({ args, options, index, audit });
  const crew = stack.use(primary.crew);
  if ((await Promise.race([crew.start().then(() => true), interrupt.requested])) === undefined) return 0;
  const port = stack.use(await SharedPort.open(options, crew.take));
  await crew.meet();
  const paths = crew.serving[0]?.serving.paths ?? [];
  const ready = index?.started ?? Promise.resolve();
  await Promise.race([ready.then(() => tellReady(port.urlAt(options), paths)), interrupt.requested, crew.failed]);
  await Promise.race([interrupt.requested, crew.failed]);
  log({ level: "info", message: "shutting down" });
  await crew.drain(closeDelay);
  return 0;
}

/** Begins to read the shards, if paths of workspaces are mapped. @throws Failure */
async function openIndex(options: FrontProxyCommand, stack: AsyncDisposableStack): Promise<SharedIndex | undefined> {
  const { mapping, kubeconfigs, issuerHosts, log } = options;
  if (!mapping.some(({ path }) => path === CLUSTERS_PATH)) return undefined;
  const { upstream } = await kubeconfigUpstream({ file: kubeconfigs.root, log });
  const root = stack.use(await orFail(() => new Upstream(upstream)));
  const read = await shardAccess(options);
  return stack.use(new SharedIndex({ root, read, workspaceAuthentication: issuerHosts !== undefined, log }));
}

interface PrimaryParts {
  readonly args: readonly string[];
  readonly options: FrontProxyCommand;
  readonly index: SharedIndex | undefined;
  readonly audit: SharedAudit | undefined;
}

/** A worker with its connections to the index and for requests. */
interface Connected {
  readonly worker: CrewWorker<Serving>;
  readonly requests: IpcRequests<WorkerRequest>;
  readonly index: IndexConnection | undefined;
  readonly families: () => Promise<readonly MetricFamily[]>;
}

/** Answers the workers, and tells each what it needs of the others. Security: only its own child processes have a channel to it. */
class Primary {
  readonly crew: Crew<Serving>;
  readonly #parts: PrimaryParts;
  readonly #key: Uint8Array | undefined;
  readonly #memory = createConsoleMemory();
  readonly #failures = new RecentFailures();
  readonly #metrics = new SummedMetrics<Connected>();
  readonly #connected = new Map<CrewWorker<Serving>, Connected>();
  #restarts = 0;

  constructor(parts: PrimaryParts) {
    const { console: choice, workers: count, log } = parts.options;
    this.#parts = parts;
    this.#key = choice && withKey(choice).key;
    this.crew = new Crew<Serving>({
      ...{ count, command: "front-proxy:worker", log },
      begin: (worker, index) => this.#begin(worker, index),
      receive: (message, worker) => {
        const connected = this.#connected.get(worker);
        if (connected !== undefined) this.#receive(message as FromWorker, connected);
      },
    });
  }

  #begin(worker: CrewWorker<Serving>, at: number): void {
    const send = (message: ToWorker): void => worker.send(message);
    const { args, index, options } = this.#parts;
    send({
      ...{ type: "serve", args, workers: options.workers, isFirst: at === 0, key: this.#key },
      ...{ failures: this.#failures.networks, ended: this.#memory.ended },
    });
    const requests = new IpcRequests<WorkerRequest>(send);
    const connected: Connected = {
      worker,
      requests,
      index: index?.connect((message) => send({ type: "index", message })),
      families: async () => (await requests.send({ what: "families" })) as readonly MetricFamily[],
    };
    this.#connected.set(worker, connected);
    void worker.ended.then(() => this.#leave(connected));
  }

  #leave(connected: Connected): void {
    this.#connected.delete(connected.worker);
    connected.requests.close();
    connected.index?.[Symbol.dispose]();
    this.#metrics.leave(connected);
    this.#restarts += 1;
  }

  #receive(message: FromWorker, from: Connected): void {
    if (message.type === "index") from.index?.receive(message.message);
    else if (message.type === "response") from.requests.receive(message);
    else if (message.type === "request")
      void respondTo(
        message.id,
        () => this.#answer(message.request, from),
        (answer) => from.worker.send(answer satisfies ToWorker),
      );
    else if (message.type === "failure") {
      this.#failures.add(message.network);
      this.#tellOthers(message, from);
    } else if (message.type === "ended") {
      this.#memory.end(message.session);
      this.#tellOthers(message, from);
    }
  }

  async #answer(request: PrimaryRequest, from: Connected): Promise<unknown> {
    if (request.what === "sum") return this.#sum(request.own, from);
    if (request.what === "audit") return this.#parts.audit?.write(request.lines);
    return answerFrom(this.#memory, request);
  }

  #sum(own: readonly MetricFamily[], from: Connected): Promise<readonly MetricFamily[]> {
    const workers = this.crew.serving.flatMap(({ worker }) => this.#connected.get(worker) ?? []);
    const families = [
      ...(this.#parts.index?.families() ?? []),
      ...(this.#parts.audit?.families() ?? []),
      ...this.#ownFamilies(),
    ];
    return this.#metrics.of(workers, new Map([[from, own]]), families);
  }

  #ownFamilies(): readonly MetricFamily[] {
    return [
      {
        ...{ name: "virtual_workspaces_workers", type: "gauge", labelNames: [] },
        help: "Workers that serve.",
        samples: [{ labels: [], value: this.crew.serving.length }],
      },
      {
        ...{ name: "virtual_workspaces_worker_restarts_total", type: "counter", labelNames: [] },
        help: "Workers that have ended and were replaced.",
        samples: [{ labels: [], value: this.#restarts }],
      },
    ];
  }

  #tellOthers(message: ToWorker, from: Connected): void {
    for (const { worker } of this.#connected.values()) if (worker !== from.worker) worker.send(message);
  }
}
