import type { MetricFamily } from "@virtual-workspaces/framework/server";
import type { FromIndex, ToIndex } from "@virtual-workspaces/front-proxy";
import type { FromCrewWorker, ToCrewWorker } from "../../process/crew.ts";
import type { IpcMessage } from "../../process/ipc-requests.ts";
import type { MemoryRequest } from "../../server/console-memory.ts";

/** Message from the primary process to a worker of the front proxy. */
export type ToWorker =
  | ToCrewWorker
  | ({ readonly type: "serve" } & WorkerStart)
  | { readonly type: "index"; readonly message: FromIndex }
  /** A failed authentication at another worker. */
  | { readonly type: "failure"; readonly network: string }
  /** A session of the console that has ended at another worker. */
  | { readonly type: "ended"; readonly session: string }
  | IpcMessage<WorkerRequest>;

/** Options of a worker, and what the others know. */
export interface WorkerStart {
  readonly args: readonly string[];
  /** Number of workers. */
  readonly workers: number;
  /** Whether it is the one that writes the status of PathMappings. */
  readonly isFirst: boolean;
  /** Key of the console's sessions. Security: it stays in the memory of these processes. */
  readonly key: Uint8Array | undefined;
  /** Networks of recent failed authentications, once for each. */
  readonly failures: readonly string[];
  /** Sessions of the console that were ended early. */
  readonly ended: readonly string[];
}

/** Request to a worker: its metrics. */
export interface WorkerRequest {
  readonly what: "families";
}

/** Message from a worker to the primary process. */
export type FromWorker =
  | FromCrewWorker<Serving>
  | { readonly type: "index"; readonly message: ToIndex }
  | { readonly type: "failure"; readonly network: string }
  | { readonly type: "ended"; readonly session: string }
  | IpcMessage<PrimaryRequest>;

/** Request to the primary process. */
export type PrimaryRequest =
  /** Metrics of all processes, from those of this worker. */
  | { readonly what: "sum"; readonly own: readonly MetricFamily[] }
  /** Writes whole lines of the audit log. */
  | { readonly what: "audit"; readonly lines: Uint8Array }
  | MemoryRequest;

/** A worker that is set up. */
export interface Serving {
  /** Paths that it serves. */
  readonly paths: readonly string[];
}
