import type { Socket } from "node:net";
import { endWithin, failWorker, joinCrew, tellPrimary } from "../process/crew-member.ts";
import { serve } from "./serve.ts";
import { serveOptions } from "./serve-options.ts";
import { WorkerEndpoint } from "./workers/worker-endpoint.ts";
import type { FromWorker, Serving, ToWorker } from "./workers/worker-messages.ts";

/** Runs a worker process, which the primary process controls, and which ends with it. */
export function work(): void {
  let post: WorkerEndpoint | undefined;
  joinCrew((message, connection: Socket | undefined) => {
    const order = message as ToWorker;
    if (order.type === "serve") {
      post = begin(order);
    } else if (order.type === "members") {
      post?.meet(order.members);
      tell({ type: "members" });
    } else if (order.type === "connection") {
      tell({ type: "taken" });
      post?.accept(connection);
    } else {
      endWithin(order.patience);
      post?.finish();
    }
  });
}

function begin({ args, trust }: ToWorker & { readonly type: "serve" }): WorkerEndpoint | undefined {
  try {
    const options = serveOptions(args, process.env);
    const { log, group, closeDelay } = options;
    const onServing = (serving: Serving): void => tell({ type: "serving", ...serving });
    const post = new WorkerEndpoint({ trust, replicas: group.peers, closeDelay, log, onServing });
    void serve(options, post).then((code) => process.exit(code), failWorker);
    return post;
  } catch (error) {
    failWorker(error);
    return undefined;
  }
}

function tell(message: FromWorker): void {
  tellPrimary(message);
}
