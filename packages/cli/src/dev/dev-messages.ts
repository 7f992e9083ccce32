import type { TlsCertificate } from "@virtual-workspaces/framework/tls";
import type { StoreChoice } from "../server/store-choice.ts";

/** What the supervisor tells a worker. */
export type ToWorker =
  /** Sent after `imported`, and again after `released`: open the store, set up. */
  | { readonly type: "serve"; readonly site: Site }
  /** Comes with a connection. */
  | { readonly type: "connection" }
  /** No more connections come: end watches cleanly, finish what is under way, close the store. Within `patience`, ms. */
  | { readonly type: "release"; readonly patience: number }
  /** The same, and exit. */
  | { readonly type: "finish"; readonly patience: number };

/** How and to whom a worker serves. */
export interface Site {
  readonly tls: TlsCertificate;
  /** The authority of users' certificates, PEM. */
  readonly ca: string;
  /** Whether requests are not logged. */
  readonly quiet: boolean;
  readonly store: StoreChoice;
}

/** What a worker tells the supervisor. */
export type FromWorker =
  /** The modules are there; whether one of them wants the host. */
  | { readonly type: "imported"; readonly hosted: boolean }
  /** Set up, ready for connections. */
  | { readonly type: "serving"; readonly loaded: Loaded }
  | { readonly type: "released" }
  /** A connection has arrived, in the order in which they were sent. */
  | { readonly type: "taken" }
  /** The modules, or what they make together, cannot be served. */
  | { readonly type: "failed"; readonly problem: string }
  /** Files of the module graph, absolute, as they are met. */
  | { readonly type: "files"; readonly files: readonly string[] };

/** What the modules hold. */
export interface Loaded {
  readonly views: readonly ViewSummary[];
  /** The view over all of them, when there is something to put in it. */
  readonly all: ViewSummary | undefined;
  /** What the store calls itself, when a view was given one. */
  readonly store: string | undefined;
}

/** A view as it is told of on the terminal and in the kubeconfig. */
export interface ViewSummary {
  readonly name: string;
  /** Its URL path; `:cluster` is `root`, other parameters stand as they are written. */
  readonly path: string;
  /** What it serves to the admin, as far as that can be known. */
  readonly resources: readonly ResourceSummary[];
  /** Whether it has a `setup`: something in it is likely to change by itself. */
  readonly moves: boolean;
}

export interface ResourceSummary {
  /** Its name for kubectl. */
  readonly plural: string;
  /** Its path below the view's: `/apis/example.dev/v1/quotes`. */
  readonly path: string;
}
