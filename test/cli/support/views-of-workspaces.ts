// One file of views, run by the server that has the workspaces, and by a process of its own to which that passes requests on.
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { createAuthority, type TestAuthority } from "../../_support/server.ts";
import { Program } from "../../go/support/program.ts";
import { type ByName, DOMAIN, startByName, thisMachine } from "./by-name.ts";
import { type Answer, Start, type StartOptions } from "./start.ts";

export type { Answer };

/** A stranger's file. */
export const MIRROR: string = join(root, "test/workspace-server/views/fixtures/mirror.fixture.ts");
const NAMES = join(root, "test/cli/fixtures/names.fixture.ts");
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

/** A running `virtual-workspaces serve`, or what kcp's binary of that name is started with: flags alone. */
export class Serve extends Program {
  readonly args: readonly string[];

  /**
   * @param args a command, or flags of `serve`
   * @param cwd @default that of the tests
   */
  constructor(args: readonly string[], cwd?: string) {
    super(localNode, [...BINARY, ...args], cwd === undefined ? {} : { cwd });
    this.args = args;
  }

  /** Starts, and waits until it serves. */
  static async ready(args: readonly string[], cwd?: string): Promise<Serve> {
    const views = new Serve(args, cwd);
    await views.until("ready", () => views.port !== 0, 60_000);
    return views;
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
  /** Whether it is started as kcp's own binary is: no command and no view named. */
  readonly asKcp?: boolean;
  /** Of the server of workspaces, besides. */
  readonly shardFlags?: readonly string[];
  /** Of the process that runs it, besides. */
  readonly flags?: readonly string[];
  /** Whether each shard has views of its own, by its name below {@link DOMAIN}. @default there is one shard */
  readonly byShard?: boolean;
}

/** A server of workspaces that runs no views, and a process that does. */
export class Apart implements AsyncDisposable {
  /** The server of workspaces now. */
  shard: Start;
  /** The process that runs the views now. */
  views: Serve;
  /** The wire between clients, the shard among them, and the views. */
  readonly wire: Relay;
  readonly authority: TestAuthority;
  /** Certifies front proxies of the views. */
  readonly proxies: TestAuthority;
  readonly folder: Tree;
  /** By which the views of shards are told apart, if there are several. */
  readonly names: ByName | undefined;
  readonly #shardOptions: StartOptions;
  readonly #others = new Map<string, Serve>();
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Apart, "shard" | "views" | "wire" | "authority" | "proxies" | "folder" | "names"> & {
      readonly shardOptions: StartOptions;
    },
    stack: AsyncDisposableStack,
  ) {
    this.shard = parts.shard;
    this.views = parts.views;
    this.wire = parts.wire;
    this.authority = parts.authority;
    this.proxies = parts.proxies;
    this.folder = parts.folder;
    this.names = parts.names;
    this.#shardOptions = parts.shardOptions;
    this.#stack = stack;
  }

  static async ready(options: ApartOptions = {}): Promise<Apart> {
    const { view = MIRROR, asKcp = false, flags = [], shardFlags = [], byShard = false } = options;
    await using stack = new AsyncDisposableStack();
    const [authority, proxies] = [createAuthority({ hosts: [`*.${DOMAIN}`] }), createAuthority()];
    const shardCertificate = authority.client("shard", ["system:masters"]);
    const folder = stack.use(tree({ "ca.crt": authority.ca }));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    let apart: Apart | undefined;
    const wire = stack.use(await startRelay(() => apart?.views.port ?? 0));
    const names = byShard ? stack.use(await startByName((name) => apart?.portOf(name) ?? 0)) : undefined;
    const ca = join(folder.path, "ca.crt");
    const allFlags = [
      "--run-virtual-workspaces=false",
      `--shard-virtual-workspace-url=https://${names ? `{shard}.${DOMAIN}:${names.port}` : `127.0.0.1:${wire.port}`}`,
      `--shard-virtual-workspace-ca-file=${ca}`,
      `--shard-client-cert-file=${file("shard.crt", shardCertificate.cert)}`,
      `--shard-client-key-file=${file("shard.key", shardCertificate.key)}`,
      ...shardFlags,
    ];
    const shardOptions = { files: USERS, flags: allFlags, ...(byShard && { preload: NAMES }) };
    const shard = stack.use(await Start.ready(shardOptions));
    const serving = new Serve([
      ...(asKcp ? [] : ["serve", "--view", view]),
      ...[...flags, "--kubeconfig", shard.path("admin.kubeconfig"), "--context", "shard-base"],
      ...["--requestheader-client-ca-file", file("proxies.crt", proxies.ca)],
      ...["--client-ca-file", ca, "--bind-address", "127.0.0.1", "--secure-port", "0"],
      ...["--tls-cert-file", file("tls.crt", authority.server.cert)],
      ...["--tls-private-key-file", file("tls.key", authority.server.key)],
    ]);
    const parts = { shard, views: serving, wire, authority, proxies, folder, names, shardOptions };
    apart = new Apart(parts, stack.move());
    try {
      await apart.#served();
      return apart;
    } catch (error) {
      await apart[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs the workspaces once more where they were, after their process has ended: those that were there, or none of them. */
  async startAgain({ empty = false }: { readonly empty?: boolean } = {}): Promise<void> {
    const { folder, url } = this.shard;
    if (empty) rmSync(this.shard.path("data"), { recursive: true });
    const at = ["--bind-address=127.0.0.1", `--secure-port=${new URL(url).port}`];
    this.shard = this.#stack.use(await Start.ready({ ...this.#shardOptions, in: folder.path, at }));
  }

  /** Runs the views of another shard as well. */
  async serveShard(name: string): Promise<void> {
    const { baseURL } = await this.#shardSpec(name);
    const admin = this.shard.text("admin.kubeconfig");
    const [shard, cache] = [`${name}.kubeconfig`, "cache.kubeconfig"].map((file) => join(this.folder.path, file));
    writeFileSync(shard as string, admin.replaceAll(this.shard.url, baseURL));
    writeFileSync(cache as string, admin.replace("current-context: root", "current-context: shard-base"));
    const { args } = this.views;
    const own = args.with(args.indexOf("--kubeconfig") + 1, shard as string);
    const views = this.#stack.use(await Serve.ready([...own, "--cache-kubeconfig", cache as string]));
    this.#others.set(name, views);
  }

  /** Where the views of a shard listen, 0 for nowhere. */
  portOf(shard: string): number {
    return shard === "root" ? this.wire.port : (this.#others.get(shard)?.port ?? 0);
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
  async published(shard = "root"): Promise<Place> {
    return { url: `${(await this.#shardSpec(shard)).virtualWorkspaceURL}/services`, ca: this.authority.ca };
  }

  /** The views of a shard, by way of it. */
  async through(shard: string): Promise<Place> {
    return { ...this.throughShard, url: `${(await this.#shardSpec(shard)).baseURL}/services` };
  }

  async #shardSpec(name: string): Promise<{ readonly baseURL: string; readonly virtualWorkspaceURL: string }> {
    const path = `/clusters/root/apis/core.kcp.io/v1alpha1/shards/${name}`;
    return JSON.parse((await this.shard.get(path, { token: "root-token" })).body).spec;
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
  const req = request(url, { ...options, agent: false, lookup: thisMachine }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  let body = "";
  for await (const piece of res.setEncoding("utf8")) body += piece;
  return { code: res.statusCode ?? 0, body };
}
