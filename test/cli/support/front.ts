// Runs a real `virtual-workspaces front-proxy` before a real `virtual-workspaces start`, which trusts it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Authority } from "../../_support/certificates.ts";
import type { KubectlHome } from "../../go/support/kubectl.ts";
import { Program } from "../../go/support/program.ts";
import { Start } from "./start.ts";

const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts"), "front-proxy"];
/** Certificate authority of front proxies. */
export const AUTHORITY: Authority = Authority.root("proxies");
const PROXY = AUTHORITY.issue({ name: "front-proxy" });
const FILES = { "proxies.crt": AUTHORITY.cert, "front-proxy.crt": PROXY.cert, "front-proxy.key": PROXY.key };

export interface FrontOptions {
  /** Existing folder of the upstream server, which is not deleted; its users are administrators only. @default a new one */
  readonly in?: string;
  /** Deadline of the upstream server's start, in ms. @default 20000 */
  readonly within?: number;
  /** Flags of the upstream server. */
  readonly flags?: readonly string[];
  /** Flags of the front proxy itself. */
  readonly own?: readonly string[];
  /** Users of both servers: lines of a token file. */
  readonly users: string;
  /** Whether to proxy the upstream's views. @default false */
  readonly services?: boolean;
  /** Other paths than `/clusters/`, with the URLs and authorities of their servers. @default none */
  readonly mapping?: readonly { readonly path: string; readonly backend: string; readonly ca: string }[];
}

interface Cluster {
  readonly name: string;
  readonly cluster: object;
}

export class Front extends Program {
  readonly server: Start;
  readonly folder: Tree;

  private constructor(server: Start, folder: Tree, args: readonly string[]) {
    super(localNode, [...BINARY, ...args], { HOME: folder.path });
    this.server = server;
    this.folder = folder;
  }

  static async ready({
    flags = [],
    own = [],
    users,
    services = false,
    mapping = [],
    ...upstream
  }: FrontOptions): Promise<Front> {
    const folder = tree({ ...FILES, "users.csv": users });
    const at = (name: string): string => join(folder.path, name);
    const server = await Start.ready({
      flags: ["--shards=2", `--requestheader-client-ca-file=${at("proxies.crt")}`, ...flags],
      ...(upstream.in === undefined && { files: { "tokens.csv": users } }),
      ...upstream,
    });
    const shown = { proxy_client_cert: at("front-proxy.crt"), proxy_client_key: at("front-proxy.key") };
    const clusters = { path: "/clusters/", backend: server.url, backend_server_ca: server.path("apiserver.crt") };
    const views = services ? [{ ...clusters, path: "/services/", ...shown }] : [];
    const others = mapping.map(({ path, backend, ca }, index) => {
      writeFileSync(at(`backend-${index}.crt`), ca);
      return { path, backend, backend_server_ca: at(`backend-${index}.crt`), ...shown };
    });
    writeFileSync(at("mapping.yaml"), JSON.stringify([{ ...clusters, ...shown }, ...views, ...others]));
    const admin = parse(server.text("admin.kubeconfig")) as { readonly clusters: readonly Cluster[] };
    const base = { ...admin, "current-context": "shard-base" };
    writeFileSync(at("root.kubeconfig"), JSON.stringify(base));
    // kcp's own set-up writes none either, since each shard has its own.
    const serverless = admin.clusters.map(({ name, cluster }) => ({
      name,
      cluster: { ...cluster, server: undefined },
    }));
    writeFileSync(at("shards.kubeconfig"), JSON.stringify({ ...base, clusters: serverless }));
    const front = new Front(server, folder, [
      `--mapping-file=${at("mapping.yaml")}`,
      `--root-kubeconfig=${at("root.kubeconfig")}`,
      `--shards-kubeconfig=${at("shards.kubeconfig")}`,
      `--tls-cert-file=${server.path("apiserver.crt")}`,
      `--tls-private-key-file=${server.path("apiserver.key")}`,
      `--token-auth-file=${at("users.csv")}`,
      "--bind-address=127.0.0.1",
      "--secure-port=0",
      ...own,
    ]);
    try {
      await front.until("ready", () => front.url !== "", 20_000);
      return front;
    } catch (error) {
      await front[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return /^Ready .* at (https:\S+?): /m.exec(this.lines.join("\n"))?.[1] ?? "";
  }

  /** Certificate authority of both servers. */
  get ca(): string {
    return readFileSync(this.server.path("apiserver.crt"), "utf8");
  }

  /** Returns a user's kubectl home for a workspace or another path. Its context `base` is the whole server. */
  in(path: string, token: string, env: KubectlHome["env"] = {}): KubectlHome {
    const [name, base] = ["front", "base"];
    const trusted = { "certificate-authority": this.server.path("apiserver.crt") };
    const file = join(this.folder.path, `${token}${path.replaceAll(/\W/g, "-")}.kubeconfig`);
    const config = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": name },
      clusters: [
        { name, cluster: { server: `${this.url}${path}`, ...trusted } },
        { name: base, cluster: { server: this.url, ...trusted } },
      ],
      users: [{ name, user: { token } }],
      contexts: [name, base].map((cluster) => ({
        name: cluster,
        context: { cluster, user: name, namespace: "default" },
      })),
    };
    writeFileSync(file, JSON.stringify(config));
    return { home: this.folder.path, kubeconfig: file, env };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
