/** What the process of a cluster is told first. */
export interface ToCluster {
  /** Where its certificates are kept. */
  readonly dir: string;
  /** Who asks with it is let in. */
  readonly token: string;
}

/** Where it is, or why it is not there. */
export type FromCluster = { readonly url: string; readonly ca: string } | { readonly error: string };
