import type { CertifiedSubject, GeneratedTls } from "@virtual-workspaces/framework/tls";
import type { IpcMessage } from "../process/ipc-requests.ts";
import type { MemoryRequest } from "../server/console-memory.ts";
import type { StoreChoice } from "../server/store-choice.ts";

/** Message from the supervisor to a worker. */
export type ToWorker =
  /** Opens the store and sets up the views. Sent after `imported`, and again after `released`. */
  | { readonly type: "serve"; readonly site: Site; readonly endedSessions: readonly string[] }
  /** Accompanies a connection. */
  | { readonly type: "connection" }
  /** No more connections come: end watches cleanly, complete requests and close the store within `patience`, ms. */
  | { readonly type: "release"; readonly patience: number }
  /** Does the same as `release`, then exits. */
  | { readonly type: "finish"; readonly patience: number }
  /** A session of the console has ended at another worker. */
  | { readonly type: "ended"; readonly session: string }
  | (IpcMessage<never> & { readonly type: "response" });

/** Settings of the server in a worker. */
export interface Site {
  readonly tls: GeneratedTls["tls"];
  /** Certificate authority of the users, PEM. */
  readonly ca: string;
  /** Whether to leave requests out of the log. */
  readonly quiet: boolean;
  readonly store: StoreChoice;
  /** `undefined` without the console. */
  readonly console: ConsoleSite | undefined;
}

/** Settings of the console in a worker: the same for all workers, so that sessions outlive them. */
export interface ConsoleSite {
  /** Key of the sessions, base64. Security: it opens every session. */
  readonly key: string;
  /** Users by their tokens. Security: a token authenticates its user. */
  readonly users: Readonly<Record<string, CertifiedSubject>>;
}

/** Message from a worker to the supervisor. */
export type FromWorker =
  /** The modules are loaded. `hosted` is whether one of them needs the host. */
  | { readonly type: "imported"; readonly hosted: boolean }
  /** The views are set up and accept connections. */
  | { readonly type: "serving"; readonly loaded: Loaded }
  | { readonly type: "released" }
  /** A connection has arrived. Sent in the order of the connections. */
  | { readonly type: "taken" }
  /** The modules, or the server made of them, cannot be served. */
  | { readonly type: "failed"; readonly problem: string }
  /** An uncaught error is about to end the process. */
  | { readonly type: "dying"; readonly problem: string }
  /** Absolute paths of files in the module graph, as they are loaded. */
  | { readonly type: "files"; readonly files: readonly string[] }
  /** A session of the console has ended. */
  | { readonly type: "ended"; readonly session: string }
  | (IpcMessage<MemoryRequest> & { readonly type: "request" });

/** Content of the modules. */
export interface Loaded {
  readonly views: readonly ViewSummary[];
  /** View over all of them, if any can be combined. */
  readonly all: ViewSummary | undefined;
  /** Store of the host, if a view uses it. */
  readonly store: UsedStore | undefined;
}

/** Name of a store, and of the views that use it. */
export interface UsedStore {
  readonly name: string;
  readonly views: readonly string[];
}

/** Summary of a view for the terminal and the kubeconfig. */
export interface ViewSummary {
  readonly name: string;
  /** URL path. `:cluster` is replaced by `root`; other parameters stay as written. */
  readonly path: string;
  /** Resources that the view serves to the admin, as far as known. */
  readonly resources: readonly ResourceSummary[];
  /** Whether the view has a `setup`, so that its objects probably change by themselves. */
  readonly moves: boolean;
  /** Whether the view denies the admin discovery, as far as known. */
  readonly denied: boolean;
  /** Whether its `ready` hook has passed right after the start. Requests of others are 503. */
  readonly ready: boolean;
}

export interface ResourceSummary {
  /** Name for kubectl. */
  readonly plural: string;
  /** Path below that of the view: `/apis/example.dev/v1/quotes`. */
  readonly path: string;
}
