import cluster from "node:cluster";
import { once } from "node:events";
import { dirname } from "node:path";
import {
  clientCertificates,
  createServer,
  type Log,
  type Server,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { Failure } from "../usage.ts";
import { accessLine } from "./access-line.ts";
import { loadViews } from "./load.ts";
import type { FromWorker, Site, ToWorker } from "./messages.ts";
import { hookModules } from "./modules.ts";
import { summarise } from "./summary.ts";
import { unionOf } from "./union.ts";

/** How long requests under way may take once the server is told to finish, ms. */
const FINISH_WITHIN = 300;

/**
 * The process that loads the modules and serves them; on save another takes its place. It ends when it is told to, and
 * with the supervisor: a worker of `node:cluster` exits when its primary is gone.
 */
export async function work(paths: readonly string[]): Promise<void> {
  // A terminal sends Ctrl-C to the whole group; the supervisor says when to finish.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  const orders = receiveOrders();
  const files = new Batch((batch) => tell({ type: "files", files: batch }));
  hookModules((file) => files.add(file));
  try {
    const views = await loadViews(paths);
    const all = unionOf(freeName(views), views);
    files.flush();
    tell({ type: "loaded", loaded: await summarise(views, all) });
    const site = await orders.serve;
    const server = serverOf(all === undefined ? views : [...views, all], site);
    tell({ type: "serving", port: await listen(server, site.ports) });
    await orders.finish;
    await server.close();
    await handBack();
    process.exit(0);
  } catch (error) {
    files.flush();
    tell({ type: "failed", problem: problemOf(error) }, () => process.exit(1));
  }
}

/** Leaves the primary in good order: connections that it was about to hand over here go to another worker instead. */
async function handBack(): Promise<void> {
  if (!process.connected) return;
  const gone = once(process, "disconnect");
  cluster.worker?.disconnect();
  await gone;
}

/** The name of the view over all views: `dev`, unless one of them is called that. */
function freeName(views: readonly VirtualWorkspace[]): string {
  let name = "dev";
  while (views.some((view) => view.name === name)) name += "-all";
  return name;
}

function serverOf(virtualWorkspaces: readonly VirtualWorkspace[], site: Site): Server {
  return createServer({
    virtualWorkspaces,
    authentication: [clientCertificates({ ca: site.ca })],
    tls: { ...site.tls, clientCa: site.ca },
    closeTimeout: FINISH_WITHIN,
    log,
    ...(site.quiet ? {} : { onRequest: (record) => void console.log(accessLine(record, new Date())) }),
  });
}

const log: Log = ({ level, message, ...details }) => {
  const line = `${level}: ${message} ${JSON.stringify(details)}`;
  if (level === "info") console.log(line);
  else console.error(line);
};

/** The first of `ports` that is free. */
async function listen(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    try {
      return (await server.listen({ port })).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  const [first, last] = [ports[0], ports.at(-1)];
  throw new Failure(
    first === last
      ? `port ${first} was taken by another process; stop that one, or start again for another port`
      : `all ports from ${first} to ${last} are taken; name a free one with --port`,
  );
}

/** The stack without what is Node's and ours: the mistake is in between. */
function problemOf(error: unknown): string {
  if (error instanceof Failure) return error.message;
  if (!(error instanceof Error)) return String(error);
  const ours = dirname(import.meta.dirname);
  const lines = (error.stack ?? error.message).split("\n");
  return lines.filter((line) => !(/^ +at /.test(line) && (line.includes("node:") || line.includes(ours)))).join("\n");
}

function tell(message: FromWorker, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}

function receiveOrders(): { readonly serve: Promise<Site>; readonly finish: Promise<void> } {
  const serve = Promise.withResolvers<Site>();
  const finish = Promise.withResolvers<void>();
  process.on("message", (order: ToWorker) => {
    if (order.type === "serve") serve.resolve(order);
    else finish.resolve();
  });
  return { serve: serve.promise, finish: finish.promise };
}

/** Gathers what comes in one turn of the event loop: hundreds of files are met while modules load. */
class Batch {
  readonly #send: (files: readonly string[]) => void;
  #files: string[] = [];

  constructor(send: (files: readonly string[]) => void) {
    this.#send = send;
  }

  add(file: string): void {
    if (this.#files.length === 0) setImmediate(() => this.flush());
    this.#files.push(file);
  }

  flush(): void {
    if (this.#files.length > 0) this.#send(this.#files.splice(0));
  }
}
