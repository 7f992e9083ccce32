import { on } from "node:events";
import type { Socket } from "node:net";
import { problemOf } from "../process/failure.ts";
import { IpcRequests } from "../process/ipc-requests.ts";
import { type MemoryRequest, SharedMemory } from "../server/console-memory.ts";
import { hookModules, importSources, isHosted } from "../views/load.ts";
import type { FromWorker, ToWorker } from "./dev-messages.ts";
import { type Serving, startServing } from "./serving.ts";

/** Loads the modules and serves them, in a process that a save replaces. The process ends on a message, or with the supervisor. */
export async function work(paths: readonly string[]): Promise<void> {
  // A terminal sends Ctrl-C to the whole process group, but the supervisor decides when to stop.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  process.once("disconnect", () => process.exit(1));
  process.on("uncaughtExceptionMonitor", (error) => tell({ type: "dying", problem: problemOf(error) }));
  const orders = on(process, "message") as AsyncIterable<[ToWorker, Socket | undefined]>;
  const memory = consoleMemory();
  const files = new Batch((batch) => tell({ type: "files", files: batch }));
  hookModules((file) => files.add(file));
  let serving: Serving | undefined;
  try {
    const sources = await importSources(paths);
    files.flush();
    tell({ type: "imported", hosted: sources.some(isHosted) });
    for await (const [order, connection] of orders) {
      if (order.type === "connection") {
        tell({ type: "taken" });
        if (connection !== undefined) serving?.server.accept(connection); // undefined if the client has disconnected
      } else if (order.type === "serve") {
        memory.add(order.endedSessions);
        serving = await startServing(sources, order.site, memory);
        files.flush();
        tell({ type: "serving", loaded: serving.loaded });
      } else if (order.type === "release" || order.type === "finish") {
        await serving?.end(order.patience);
        serving = undefined;
        if (order.type === "finish") process.exit(0);
        tell({ type: "released" });
      }
    }
  } catch (error) {
    files.flush();
    tell({ type: "failed", problem: problemOf(error) }, () => process.exit(1));
  }
}

/** Returns the memory of the console, in the supervisor. Its messages do not wait for orders: a drain waits for the requests that need them. */
function consoleMemory(): SharedMemory {
  const requests = new IpcRequests<MemoryRequest>((message) => {
    if (message.type === "request") tell(message);
  });
  const memory = new SharedMemory({
    send: (request) => requests.send(request),
    end: (session) => tell({ type: "ended", session }),
  });
  process.on("message", (message: ToWorker) => {
    if (message.type === "response") requests.receive(message);
    else if (message.type === "ended") memory.add([message.session]);
  });
  return memory;
}

function tell(message: FromWorker, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}

/** Batches the files of one turn of the event loop: modules load hundreds. */
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
