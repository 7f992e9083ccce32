import { hostname } from "node:os";
import { told } from "../../start/failures.ts";
import { Interrupt } from "../../start/interrupt.ts";
import { UsageError } from "../../usage.ts";
import type { ServeOptions } from "../options.ts";
import { Crew } from "./crew.ts";
import { tellReady } from "./post.ts";
import { Replicas } from "./replicas.ts";
import { SharedPort } from "./shared-port.ts";
import { groupTrust } from "./trust.ts";

/**
 * Serves by several processes until this one is asked to end.
 *
 * @param args the whole command line: workers read it again
 * @returns the exit code @throws Failure, UsageError
 */
export async function serveAsGroup(args: readonly string[], options: ServeOptions): Promise<number> {
  const { group, log } = options;
  if (options.store.engine === "lmdb")
    throw new UsageError("--data-dir is for one process alone: beside --workers and --peers name --etcd-servers");
  await using stack = new AsyncDisposableStack();
  stack.use(log);
  const interrupt = stack.use(new Interrupt());
  const trust = await groupTrust(new Date());
  const crew = stack.use(new Crew({ count: group.workers, args, trust, log }));
  const paths = await Promise.race([crew.start(), interrupt.asked]);
  if (paths === undefined) return 0;
  const port = stack.use(await SharedPort.open(options, crew.take));
  const own = `${hostname()}:${port.number}`;
  await crew.open(own);
  const { peers } = group;
  if (peers !== undefined) {
    const onMembers: Crew["join"] = (members) => crew.join(members);
    const onFound = (url: string, workers: number): void =>
      console.log(`Replica ${url} has ${workers} of its workers serving`);
    await stack.use(await told(() => new Replicas({ peers, own, onMembers, onFound, log }))).start();
  }
  const { bindAddress: host } = options;
  tellReady(`https://${host.includes(":") ? `[${host}]` : host}:${port.number}`, paths);
  await Promise.race([interrupt.asked, crew.failed]);
  return 0;
}
