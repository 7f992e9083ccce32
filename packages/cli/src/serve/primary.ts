import { hostname } from "node:os";
import { orFail, UsageError } from "../process/failure.ts";
import { Interrupt } from "../process/interrupt.ts";
import { logWarnings } from "../process/log.ts";
import { tellReady } from "../server/listening.ts";
import { SharedPort } from "../server/shared-port.ts";
import type { ServeOptions } from "./serve-options.ts";
import { Replicas } from "./workers/replicas.ts";
import { groupTrust } from "./workers/routes.ts";
import { WorkerProcesses } from "./workers/worker-processes.ts";

/**
 * Serves with several processes until a signal stops this one.
 *
 * @param args the whole command line, which the workers read again
 * @returns the exit code
 * @throws Failure, UsageError
 */
export async function serveAsGroup(args: readonly string[], options: ServeOptions): Promise<number> {
  const { group, log, closeDelay } = options;
  if (options.store.engine === "lmdb")
    throw new UsageError("--data-dir works with a single process only: with --workers or --peers, use --etcd-servers");
  await using stack = new AsyncDisposableStack();
  stack.use(log);
  stack.use(logWarnings(options));
  const interrupt = stack.use(new Interrupt());
  const trust = await groupTrust(new Date());
  const crew = stack.use(new WorkerProcesses({ count: group.workers, args, trust, log }));
  const paths = await Promise.race([crew.start(), interrupt.requested]);
  if (paths === undefined) return 0;
  const port = stack.use(await SharedPort.open(options, crew.take));
  const own = `${hostname()}:${port.number}`;
  await crew.open(own);
  const { peers } = group;
  if (peers !== undefined) {
    const onMembers: WorkerProcesses["join"] = (members) => crew.join(members);
    const onFound = (url: string, workers: number): void => console.log(`Replica ${url} has ${workers} workers`);
    await stack.use(await orFail(() => new Replicas({ peers, own, onMembers, onFound, log }))).start();
  }
  tellReady(port.urlAt(options), paths);
  await Promise.race([interrupt.requested, crew.failed]);
  await crew.drain(closeDelay);
  return 0;
}
