import type { JsonObject } from "@virtual-workspaces/apimachinery";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import type { Impersonation } from "../client.ts";

/** Where credentials are looked for, as `kubectl` does. */
export interface KubeconfigOptions {
  /** This file and no other (`--kubeconfig`). @default those of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account */
  readonly file?: string | undefined;
  /** What the files hold, the one that counts most first, where they have been read already. @default they are read */
  readonly contents?: readonly KubeconfigContent[] | undefined;
  /** (`--context`) @default the `current-context` */
  readonly context?: string | undefined;
  /** What counts instead of what the files say, as kubectl's flags do. */
  readonly overrides?: KubeconfigOverrides | undefined;
  /** @default the process's */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder with the `token`, `ca.crt` and `namespace` of a pod. @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly serviceAccount?: string | undefined;
}

/** A kubeconfig that has been read: relative paths in it begin in the folder of `file`. */
export interface KubeconfigContent {
  readonly file: string;
  readonly content: JsonObject;
}

/**
 * Fields of a kubeconfig, as they are written there, over those of the entries that are used: `--server` of kubectl is
 * `cluster: { server }`, `--token` is `user: { token }`, `--user` is `context: { user }`. What says the same in another way (a
 * certificate in a file, or as it is) goes with it. Paths are absolute. With a server, no context has to be there.
 */
export interface KubeconfigOverrides {
  readonly context?: JsonObject;
  readonly cluster?: JsonObject;
  readonly user?: JsonObject;
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
