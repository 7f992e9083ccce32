import type { MetricFamily } from "@virtual-workspaces/framework/server";
import { CLUSTERS_PATH, type FrontProxy, RemoteIndex } from "@virtual-workspaces/front-proxy";
import { endWithin, failWorker, joinCrew, tellPrimary } from "../process/crew-member.ts";
import { IpcRequests, respondTo } from "../process/ipc-requests.ts";
import { SharedMemory } from "../server/console-memory.ts";
import { type FrontProxyCommand, frontProxyOptions } from "./front-proxy-options.ts";
import { openProxy } from "./proxy.ts";
import { dividedLimits, sharedFailures } from "./workers/divided-limits.ts";
import type { FromWorker, PrimaryRequest, ToWorker, WorkerStart } from "./workers/messages.ts";
import { auditThrough } from "./workers/shared-audit.ts";

/** Runs a worker of the front proxy, which the primary process controls, and which ends with it. */
export function work(): void {
  const worker = new Worker();
  joinCrew((message, connection) => {
    const order = message as ToWorker;
    if (order.type === "serve") void worker.serve(order).then((code) => process.exit(code), failWorker);
    else if (order.type === "connection") {
      tell({ type: "taken" });
      if (connection !== undefined) worker.proxy?.accept(connection);
    } else if (order.type === "finish") {
      endWithin(order.patience);
      worker.finish();
    } else worker.receive(order);
  });
}

function tell(message: FromWorker): void {
  tellPrimary(message);
}

type Order = Exclude<ToWorker, { readonly type: "serve" | "connection" | "finish" }>;

class Worker {
  proxy: FrontProxy | undefined;
  readonly #index = new RemoteIndex({ send: (message) => tell({ type: "index", message }) });
  readonly #requests = new IpcRequests<PrimaryRequest>(tell);
  readonly #memory = new SharedMemory({
    send: (request) => this.#requests.send(request),
    end: (session) => tell({ type: "ended", session }),
  });
  /** Failed authentications at other workers before there is a proxy. */
  readonly #failures: string[] = [];
  readonly #finished = Promise.withResolvers<void>();

  /** Sets the proxy up, and serves the connections of the primary process. @returns the exit code @throws UsageError, Failure */
  async serve(start: WorkerStart): Promise<number> {
    this.#memory.add(start.ended);
    const options = withShares(frontProxyOptions(start.args), start, this.#requests);
    await using stack = new AsyncDisposableStack();
    const hasIndex = options.mapping.some(({ path }) => path === CLUSTERS_PATH);
    const { proxy, paths } = await openProxy(
      options,
      {
        shards: async () => (hasIndex ? this.#index : undefined),
        limits: dividedLimits(start.workers),
        sum: async (own) => (await this.#requests.send({ what: "sum", own })) as readonly MetricFamily[],
        memory: this.#memory,
        writesStatus: start.isFirst,
      },
      stack,
    );
    this.proxy = proxy;
    for (const network of [...start.failures, ...this.#failures]) proxy.countAuthenticationFailure(network);
    await proxy.start();
    if (hasIndex) await this.#index.connected;
    tell({ type: "serving", paths });
    await this.#finished.promise;
    await proxy.close();
    return 0;
  }

  receive(order: Order): void {
    if (order.type === "index") this.#index.receive(order.message);
    else if (order.type === "failure") this.#fail(order.network);
    else if (order.type === "ended") this.#memory.add([order.session]);
    else if (order.type === "response") this.#requests.receive(order);
    else void respondTo(order.id, async () => (await this.proxy?.families()) ?? [], tell);
  }

  #fail(network: string): void {
    if (this.proxy === undefined) this.#failures.push(network);
    else this.proxy.countAuthenticationFailure(network);
  }

  /** Makes {@link serve} return. */
  finish(): void {
    this.#finished.resolve();
  }
}

/** Returns the options with what a worker shares with the others. */
function withShares(
  options: FrontProxyCommand,
  { key, workers }: WorkerStart,
  requests: IpcRequests<PrimaryRequest>,
): FrontProxyCommand {
  const { audit, console: choice, authenticationFailures } = options;
  return {
    ...options,
    audit: audit && auditThrough(audit, (lines) => requests.send({ what: "audit", lines })),
    console: choice && key && { ...choice, key: Buffer.from(key) },
    authenticationFailures: sharedFailures(authenticationFailures, {
      workers,
      onFailure: (network) => tell({ type: "failure", network }),
    }),
  };
}
