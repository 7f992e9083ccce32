import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { environment } from "../../process/programs.ts";

/** An API server in a child process, which ends with this one. */
export class PlainCluster implements AsyncDisposable {
  /** Kubeconfig of the cluster. Security: its credential may impersonate any user there. */
  readonly kubeconfig: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, kubeconfig: string) {
    this.#child = child;
    this.kubeconfig = kubeconfig;
  }

  /** Starts the cluster. @param dir folder for its certificates @throws Error when it does not start */
  static async start(dir: string): Promise<PlainCluster> {
    const token = randomBytes(32).toString("base64url");
    // Works from source and from the build.
    const file = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
    const child = fork(file, { env: environment(), stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const ended = once(child, "exit").then(([code, signal]) => ({ error: `the process ended with ${code ?? signal}` }));
    child.send({ dir, token } satisfies ToCluster);
    const place = await Promise.race([once(child, "message").then(([told]) => told as FromCluster), ended]);
    if ("error" in place) {
      child.kill("SIGKILL");
      throw new Error(`cannot start the cluster of the demonstration: ${place.error}`);
    }
    return new PlainCluster(child, kubeconfigOf(place, token));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}

/** JSON is valid YAML. */
function kubeconfigOf({ url, ca }: Exclude<FromCluster, { error: string }>, token: string): string {
  const name = "cluster";
  const authority = Buffer.from(ca).toString("base64");
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

/** First message to the process of a cluster. */
export interface ToCluster {
  /** Folder for its certificates. */
  readonly dir: string;
  /** Token that the cluster accepts. */
  readonly token: string;
}

/** URL and certificate authority of the cluster, or the error of its start. */
export type FromCluster = { readonly url: string; readonly ca: string } | { readonly error: string };
