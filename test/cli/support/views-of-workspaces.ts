// One file of views, run by the server that has the workspaces, and by a process of its own to which that passes requests on.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { createAuthority, type TestAuthority } from "../../_support/server.ts";
import { Program } from "../../go/support/program.ts";
import { type Answer, Start } from "./start.ts";

export type { Answer };

/** A stranger's file. */
export const MIRROR: string = join(root, "test/workspace-server/views/fixtures/mirror.fixture.ts");
const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];

/** Tokens are `<name>-token`. */
export const USERS = {
  "tokens.csv": [
    'root-token,shard-root,1,"system:masters"',
    'alice-token,alice,uid-of-alice,"dev,staff"',
    "bob-token,bob,3",
    "",
  ].join("\n"),
};

/** A running `virtual-workspaces serve`. */
export class Serve extends Program {
  readonly args: readonly string[];

  constructor(args: readonly string[]) {
    super(localNode, [...BINARY, "serve", ...args]);
    this.args = args;
  }

  get port(): number {
    return Number(/ at https:\S+:(\d+): /.exec(this.lines.join("\n"))?.[1] ?? 0);
  }
}

/** Where views are, and whom to trust there. */
export interface Place {
  /** What `/<name of a view>` follows. */
  readonly url: string;
  readonly ca: string;
}

export interface ApartOptions {
  /** @default the stranger's */
  readonly view?: string;
  /** Of the process that runs it, besides. */
  readonly flags?: readonly string[];
}

/** A server of workspaces that runs no views, and a process that does. */
export class Apart implements AsyncDisposable {
  readonly shard: Start;
  /** The process that runs the views now. */
  views: Serve;
  /** The wire between clients, the shard among them, and the views. */
  readonly wire: Relay;
  readonly authority: TestAuthority;
  /** Certifies front proxies of the views. */
  readonly proxies: TestAuthority;
  readonly folder: Tree;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Apart, "shard" | "views" | "wire" | "authority" | "proxies" | "folder">,
    stack: AsyncDisposableStack,
  ) {
    this.shard = parts.shard;
    this.views = parts.views;
    this.wire = parts.wire;
    this.authority = parts.authority;
    this.proxies = parts.proxies;
    this.folder = parts.folder;
    this.#stack = stack;
  }

  static async ready({ view = MIRROR, flags = [] }: ApartOptions = {}): Promise<Apart> {
    await using stack = new AsyncDisposableStack();
    const [authority, proxies] = [createAuthority(), createAuthority()];
    const shardCertificate = authority.client("shard", ["system:masters"]);
    const folder = stack.use(tree({ "ca.crt": authority.ca }));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    let apart: Apart | undefined;
    const wire = stack.use(await startRelay(() => apart?.views.port ?? 0));
    const ca = join(folder.path, "ca.crt");
    const shard = stack.use(
      await Start.ready({
        files: USERS,
        flags: [
          "--run-virtual-workspaces=false",
          `--shard-virtual-workspace-url=https://127.0.0.1:${wire.port}`,
          `--shard-virtual-workspace-ca-file=${ca}`,
          `--shard-client-cert-file=${file("shard.crt", shardCertificate.cert)}`,
          `--shard-client-key-file=${file("shard.key", shardCertificate.key)}`,
        ],
      }),
    );
    const serving = new Serve([
      ...["--view", view, ...flags, "--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--requestheader-client-ca-file", file("proxies.crt", proxies.ca)],
      ...["--client-ca-file", ca, "--bind-address", "127.0.0.1", "--secure-port", "0"],
      ...["--tls-cert-file", file("tls.crt", authority.server.cert)],
      ...["--tls-private-key-file", file("tls.key", authority.server.key)],
    ]);
    apart = new Apart({ shard, views: serving, wire, authority, proxies, folder }, stack.move());
    try {
      await apart.#served();
      return apart;
    } catch (error) {
      await apart[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs the views once more, after their process has ended. */
  async serveAgain(): Promise<void> {
    this.views = new Serve(this.views.args);
    await this.#served();
  }

  async #served(): Promise<void> {
    const { views } = this;
    await views.until("ready", () => views.port !== 0, 60_000);
  }

  /** The views, by way of the shard. */
  get throughShard(): Place {
    return { url: `${this.shard.url}/services`, ca: this.shard.text("apiserver.crt") };
  }

  /** The views, where the Shard object says that they are. */
  async published(): Promise<Place> {
    const path = "/clusters/root/apis/core.kcp.io/v1alpha1/shards/root";
    const { body } = await this.shard.get(path, { token: "root-token" });
    const { virtualWorkspaceURL } = JSON.parse(body).spec;
    return { url: `${virtualWorkspaceURL}/services`, ca: this.authority.ca };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.views[Symbol.asyncDispose]();
    await this.#stack.disposeAsync();
  }
}

/** A GET. */
export async function ask(
  url: string,
  options: Pick<RequestOptions, "ca" | "cert" | "key"> & { readonly headers?: OutgoingHttpHeaders },
): Promise<Answer> {
  const req = request(url, { ...options, agent: false }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of res.setEncoding("utf8")) body += piece;
  return { code: res.statusCode ?? 0, body };
}
