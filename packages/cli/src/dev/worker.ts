import type { Socket } from "node:net";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  clientCertificates,
  createServer,
  groups,
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
import { ADMIN } from "./users.ts";

/** How long connections that were handed over last have to ask what they came for, ms. */
const LAST_CALL = 100;
/** How long requests under way may take after that, ms. */
const FINISH_WITHIN = 300;

/**
 * The process that loads the modules and serves them; on save another takes its place. It ends when it is told to, and
 * with the supervisor.
 */
export async function work(paths: readonly string[]): Promise<void> {
  // A terminal sends Ctrl-C to the whole group; the supervisor says when to finish.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  process.once("disconnect", () => process.exit(1));
  const orders = new Orders();
  const files = new Batch((batch) => tell({ type: "files", files: batch }));
  hookModules((file) => files.add(file));
  try {
    const views = await loadViews(paths);
    const all = unionOf(freeName(views), views);
    files.flush();
    tell({ type: "loaded", loaded: await summarise(views, all) });
    const server = serverOf(all === undefined ? views : [...views, all], await orders.serve);
    await server.start();
    orders.onConnection = (connection) => server.accept(connection);
    tell({ type: "serving" });
    await orders.finish;
    await delay(LAST_CALL);
    await server.close();
    process.exit(0);
  } catch (error) {
    files.flush();
    tell({ type: "failed", problem: problemOf(error) }, () => process.exit(1));
  }
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
    impersonation: groups(...ADMIN.groups),
    tls: site.tls,
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

/** What the supervisor says. */
class Orders {
  readonly serve: Promise<Site>;
  readonly finish: Promise<void>;
  onConnection: ((connection: Socket) => void) | undefined;

  constructor() {
    const serve = Promise.withResolvers<Site>();
    const finish = Promise.withResolvers<void>();
    this.serve = serve.promise;
    this.finish = finish.promise;
    process.on("message", (order: ToWorker, connection: Socket | undefined) => {
      if (order.type === "serve") serve.resolve(order.site);
      else if (order.type === "finish") finish.resolve();
      else if (connection !== undefined) this.onConnection?.(connection); // none when its client has left already
    });
  }
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
