import type { UpstreamOptions } from "@virtual-workspaces/transport";
import type { Impersonation } from "../client.ts";

/** Where credentials are looked for, as `kubectl` does. */
export interface KubeconfigOptions {
  /** This file and no other (`--kubeconfig`). @default those of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  readonly file?: string | undefined;
  /** (`--context`) @default the `current-context` */
  readonly context?: string | undefined;
  /** @default the process's */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder with the `token`, `ca.crt` and `namespace` of a pod. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly serviceAccount?: string | undefined;
}

/** What a kubeconfig says, as `new Client` takes it. */
export interface LoadedKubeconfig {
  readonly upstream: UpstreamOptions;
  /** What the server's URL ends with. */
  readonly cluster?: string;
  readonly impersonate?: Impersonation;
  /** "" for a pod. */
  readonly context: string;
  /** Which one is meant where none is said. */
  readonly namespace: string;
}
