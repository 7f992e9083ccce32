import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { environment } from "../../process/programs.ts";

/** An API server in a process of its own, which ends with this. */
export class PlainCluster implements AsyncDisposable {
  /** By which kubectl finds it, and whoever has it may ask there as anybody. */
  readonly kubeconfig: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, kubeconfig: string) {
    this.#child = child;
    this.kubeconfig = kubeconfig;
  }

  /** @param dir where its certificates are kept @throws Error when it does not start */
  static async start(dir: string): Promise<PlainCluster> {
    const token = randomBytes(32).toString("base64url");
    // From source as well as built.
    const file = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
    const child = fork(file, { env: environment(), stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const ended = once(child, "exit").then(([code, signal]) => ({ error: `it ended with ${code ?? signal}` }));
    child.send({ dir, token } satisfies ToCluster);
    const place = await Promise.race([once(child, "message").then(([told]) => told as FromCluster), ended]);
    if ("error" in place) {
      child.kill("SIGKILL");
      throw new Error(`the cluster of the demonstration does not start: ${place.error}`);
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

/** As JSON, which is YAML. */
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

/** What the process of a cluster is told first. */
export interface ToCluster {
  /** Where its certificates are kept. */
  readonly dir: string;
  /** Who asks with it is let in. */
  readonly token: string;
}

/** Where it is, or why it is not there. */
export type FromCluster = { readonly url: string; readonly ca: string } | { readonly error: string };
