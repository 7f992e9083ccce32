import type { TlsCertificate } from "@virtual-workspaces/framework";

/** What the supervisor tells a worker. */
export type ToWorker =
  /** Sent once, after `loaded`: set up. */
  | { readonly type: "serve"; readonly site: Site }
  /** Comes with a connection. */
  | { readonly type: "connection" }
  /** No more connections come: end watches cleanly, finish what is under way, exit. */
  | { readonly type: "finish" };

/** How and to whom a worker serves. */
export interface Site {
  readonly tls: TlsCertificate;
  /** The authority of users' certificates, PEM. */
  readonly ca: string;
  /** Whether requests are not logged. */
  readonly quiet: boolean;
}

/** What a worker tells the supervisor. */
export type FromWorker =
  | { readonly type: "loaded"; readonly loaded: Loaded }
  /** Set up, ready for connections. */
  | { readonly type: "serving" }
  /** The modules, or what they make together, cannot be served. */
  | { readonly type: "failed"; readonly problem: string }
  /** Files of the module graph, absolute, as they are met. */
  | { readonly type: "files"; readonly files: readonly string[] };

/** What the modules hold. */
export interface Loaded {
  readonly views: readonly ViewSummary[];
  /** The view over all of them, when there is something to put in it. */
  readonly all: ViewSummary | undefined;
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
