import type { Socket } from "node:net";
import { timerDelay } from "@virtual-workspaces/transport";
import { problemOf } from "../process/failure.ts";
import { serve } from "./serve.ts";
import { serveOptions } from "./serve-options.ts";
import { WorkerEndpoint } from "./workers/worker-endpoint.ts";
import type { FromWorker, ToWorker } from "./workers/worker-messages.ts";

/** Runs a worker process, which the primary process controls, and which ends with it. */
export function work(): void {
  // A terminal sends Ctrl-C to the whole process group, but the primary process decides when to stop.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  process.once("disconnect", () => process.exit(1));
  let post: WorkerEndpoint | undefined;
  process.on("message", (order: ToWorker, connection: Socket | undefined) => {
    if (order.type === "serve") {
      post = begin(order);
    } else if (order.type === "members") {
      post?.meet(order.members);
      tell({ type: "members" });
    } else if (order.type === "connection") {
      tell({ type: "taken" });
      post?.accept(connection);
    } else {
      setTimeout(() => process.exit(1), timerDelay(order.patience)).unref();
      post?.finish();
    }
  });
}

function begin({ args, trust }: ToWorker & { readonly type: "serve" }): WorkerEndpoint | undefined {
  try {
    const options = serveOptions(args, process.env);
    const { log, group, closeDelay } = options;
    const onServing = (serving: Omit<FromWorker & { readonly type: "serving" }, "type">): void =>
      tell({ type: "serving", ...serving });
    const post = new WorkerEndpoint({ trust, replicas: group.peers, closeDelay, log, onServing });
    void serve(options, post).then((code) => process.exit(code), fail);
    return post;
  } catch (error) {
    fail(error);
    return undefined;
  }
}

function fail(error: unknown): void {
  tell({ type: "failed", problem: problemOf(error) }, () => process.exit(1));
}

function tell(message: FromWorker, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}
