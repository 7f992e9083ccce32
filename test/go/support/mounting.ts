// Workspace server with mounts in `root`, and `kubectl` in the mounted workspaces.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Start, type StartOptions } from "../../cli/support/start.ts";
import type { KubectlHome } from "./kubectl.ts";

const MOUNT = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount" } as const;
const WORKSPACES = "workspaces.v1alpha1.tenancy.kcp.io";

/** Flags that such a server needs. */
export const MOUNTING: readonly string[] = ["--batteries-included=+mounts", "--mount-allow=127.0.0.1"];

export class Mounting implements AsyncDisposable {
  readonly server: Start;

  private constructor(server: Start) {
    this.server = server;
  }

  static async start({ flags = [], ...options }: StartOptions = {}): Promise<Mounting> {
    return Mounting.at(await Start.ready({ flags: [...MOUNTING, ...flags], ...options }));
  }

  /** Uses a running server that has these flags. Its end stops the server. */
  static async at(server: Start): Promise<Mounting> {
    const mounting = new Mounting(server);
    try {
      const reference = { export: { path: "root", name: "proxy.kcp.io" } };
      const binding = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIBinding", metadata: { name: "mounts" } };
      await mounting.apply({ ...binding, spec: { reference } });
      await mounting.admin("wait", "apibinding/mounts", "--for=jsonpath={.status.phase}=Bound");
      return mounting;
    } catch (error) {
      await mounting[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Returns the output of the administrator's kubectl in `root`. It must succeed. */
  async admin(...args: readonly string[]): Promise<string> {
    const said = await this.server.kubectl("--context", "root", ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  async apply(object: object): Promise<void> {
    const file = join(this.server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    await this.admin("apply", "-f", file);
  }

  /** Creates a Secret with a kubeconfig for a server, with a token. */
  async secret(name: string, server: string): Promise<void> {
    const config = kubeconfig({ server }, "of-the-mount");
    const metadata = { name, namespace: "default" };
    const data = { kubeconfig: Buffer.from(JSON.stringify(config)).toString("base64") };
    await this.apply({ apiVersion: "v1", kind: "Secret", metadata, data });
  }

  /** Creates a Mount, and a workspace of the same name on it, and waits until it is Ready. */
  async mount(name: string, spec: object): Promise<void> {
    await this.apply({ ...MOUNT, metadata: { name }, spec });
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
    await this.apply({ ...workspace, spec: { mount: { ref: { ...MOUNT, name } } } });
    await this.turned(name, "Ready");
  }

  /** Does the same with a Secret of the same name. */
  async mountSecret(name: string, server: string, spec: object = {}): Promise<void> {
    await this.secret(name, server);
    await this.mount(name, { ref: { apiVersion: "v1", kind: "Secret", namespace: "default", name }, ...spec });
  }

  /** Waits until a workspace is in a phase. */
  async turned(name: string, phase: string): Promise<void> {
    await this.admin("wait", `${WORKSPACES}/${name}`, `--for=jsonpath={.status.phase}=${phase}`, "--timeout=30s");
  }

  /** Returns the environment of the administrator's kubectl in a workspace. */
  in(name: string, env: KubectlHome["env"] = {}): KubectlHome {
    const home = this.server.folder.path;
    const file = join(home, `${name}.kubeconfig`);
    const cluster = {
      server: `${this.server.url}/clusters/root:${name}`,
      "certificate-authority": this.server.path("apiserver.crt"),
    };
    writeFileSync(file, JSON.stringify(kubeconfig(cluster, this.server.token("kcp-admin"))));
    return { home, kubeconfig: file, env };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}

function kubeconfig(cluster: object, token: string): object {
  const [name] = ["a"];
  return {
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
  };
}
