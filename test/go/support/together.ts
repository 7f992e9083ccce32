// Several processes of one shard over one etcd, with their addresses.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { etcdStore, type Store } from "@virtual-workspaces/store";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Start, type StartOptions } from "../../cli/support/start.ts";
import { Admin } from "../../workspace-server/faults/support/admin.ts";
import { EtcdCluster } from "./etcd.ts";

/** Returns a free port whose successor is free too. */
export async function freePair(): Promise<number> {
  for (;;) {
    const one = createServer().listen(0, "127.0.0.1");
    await once(one, "listening");
    const { port } = one.address() as AddressInfo;
    const next = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      next.once("error", () => resolve(false)).listen(port + 1, "127.0.0.1", () => resolve(true));
    });
    await Promise.all([one, next].map((server) => new Promise((resolve) => server.close(resolve))));
    if (isFree) return port;
  }
}

/** URL of a load balancer. */
export const BASE = "https://kcp.example.com:6443";

/** Options of one process that differ from the others'. */
export interface Given {
  readonly more?: readonly string[];
  /** URL for clients. */
  readonly base?: string;
  /** Flags of its listener. */
  readonly listen?: readonly string[];
  readonly address?: string;
}

/** Common options of all processes, and their addresses. */
export class Together implements AsyncDisposable {
  readonly #files: Tree;
  readonly etcd: EtcdCluster;
  readonly prefix: string;
  readonly #ca: string;

  private constructor(files: Tree, etcd: EtcdCluster, ca: string) {
    this.#files = files;
    this.etcd = etcd;
    this.prefix = etcd.prefix();
    this.#ca = ca;
  }

  static async start(): Promise<Together> {
    const now = new Date();
    const subject = { name: "ca", groups: [] };
    const authority = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
    const purpose = {
      kind: "server",
      hosts: ["localhost"],
      addresses: ["127.0.0.1", "127.0.0.2", "127.0.0.3"],
    } as const;
    const own = await issueCertificate({ subject: { name: "kcp", groups: [] }, purpose, now }, authority);
    const files = tree({
      "tls.crt": own.cert + authority.cert,
      "tls.key": own.key,
      "ca.crt": authority.cert,
      "tokens.csv": 'everything,somebody,1,"system:masters"\n',
    });
    return new Together(files, await EtcdCluster.start({ version: "3.4" }), authority.cert);
  }

  get store(): Promise<Store> {
    return etcdStore({ endpoints: this.etcd.endpoints, prefix: this.prefix });
  }

  async process(name: string, given: Given = {}): Promise<[Start, Admin]> {
    const server = new Start(this.options(name, given));
    const { address = "127.0.0.1" } = given;
    await server.until("ready", () => server.lines.length > 0, 20_000);
    // The log has the listening address, whereas its URLs have that of the load balancer.
    let port: string | undefined;
    while (port === undefined && server.running) {
      port = /Serving securely.*port=(\d+)/.exec(server.stderr)?.[1];
      await delay(5);
    }
    const ca = this.#ca;
    return [server, new Admin({ url: `https://${address}:${port}`, text: () => ca, token: () => "everything" })];
  }

  options(name: string, { more = [], base = BASE, listen }: Given = {}): StartOptions {
    const at = (file: string): string => `${this.#files.path}/${file}`;
    const flags = [
      `--etcd-servers=${this.etcd.endpoints.join()}`,
      `--etcd-prefix=${this.prefix}`,
      `--shard-base-url=${base}`,
      `--tls-cert-file=${at("tls.crt")}`,
      `--tls-private-key-file=${at("tls.key")}`,
      `--root-ca-file=${at("ca.crt")}`,
      `--token-auth-file=${at("tokens.csv")}`,
      `--service-account-signing-key-file=${at("one/sa.key")}`,
      ...more,
    ];
    return {
      in: this.#files.path,
      root: name,
      ...(listen && { at: listen }),
      flags: name === "one" ? flags.slice(0, -1 - more.length).concat(more) : flags,
    };
  }

  /** Returns a kubeconfig for an administrator of one process. */
  kubeconfigOf({ url }: { readonly url: string }, path = "/clusters/root"): string {
    const [name] = ["together"];
    const data = Buffer.from(this.#ca).toString("base64");
    return JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": name },
      clusters: [{ name, cluster: { server: `${url}${path}`, "certificate-authority-data": data } }],
      users: [{ name, user: { token: "everything" } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.etcd[Symbol.asyncDispose]();
    this.#files[Symbol.dispose]();
  }
}
