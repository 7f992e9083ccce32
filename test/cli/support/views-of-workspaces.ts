// A file of views, run in the workspace server, and in a separate process to which that forwards requests.
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

/** A view in a file outside of the packages. */
export const MIRROR: string = join(root, "test/workspace-server/views/fixtures/mirror.fixture.ts");
const NAMES = join(root, "test/cli/fixtures/names.fixture.ts");
const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts")];

/** Users; tokens are `<name>-token`. */
export const USERS = {
  "tokens.csv": [
    'root-token,shard-root,1,"system:masters"',
    'alice-token,alice,uid-of-alice,"dev,staff"',
    "bob-token,bob,3",
    "",
  ].join("\n"),
};

/** A running `virtual-workspaces serve`, or the flags of kcp's binary of that name without a command. */
export class Serve extends Program {
  readonly args: readonly string[];

  /**
   * @param args a command, or flags of `serve`
   * @param cwd
   * @default that of the tests
   */
  constructor(args: readonly string[], cwd?: string) {
    super(localNode, [...BINARY, ...args], cwd === undefined ? {} : { cwd });
    this.args = args;
  }

  /** Starts the process, and waits until it serves. */
  static async ready(args: readonly string[], cwd?: string): Promise<Serve> {
    const views = new Serve(args, cwd);
    await views.until("ready", () => views.port !== 0, 60_000);
    return views;
  }

  get port(): number {
    return Number(/ at https:\S+:(\d+): /.exec(this.lines.join("\n"))?.[1] ?? 0);
  }
}

/** URL of views, and the certificate authority to trust there. */
export interface Place {
  /** URL before `/<name of a view>`. */
  readonly url: string;
  readonly ca: string;
}

export interface ApartOptions {
  /** Path of the view. @default the file above */
  readonly view?: string;
  /** Whether to start it like kcp's own binary: without a command and views. */
  readonly asKcp?: boolean;
  /** Additional flags of the workspace server. */
  readonly shardFlags?: readonly string[];
  /** Additional flags of the process with the views. */
  readonly flags?: readonly string[];
  /** Whether each shard has its own views, by a name below {@link DOMAIN}. @default there is one shard */
  readonly byShard?: boolean;
}

/** A workspace server without views, and a process with them. */
export class Apart implements AsyncDisposable {
  /** Current workspace server. */
  shard: Start;
  /** Current process with the views. */
  views: Serve;
  /** Connection from clients, including the shard, to the views. */
  readonly wire: Relay;
  readonly authority: TestAuthority;
  /** Certificate authority of front proxies for the views. */
  readonly proxies: TestAuthority;
  readonly folder: Tree;
  /** Names that select the views of a shard, if there are several. */
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

  /** Starts the workspace server again at the same address after its process has ended, with its data or empty. */
  async startAgain({ empty = false }: { readonly empty?: boolean } = {}): Promise<void> {
    const { folder, url } = this.shard;
    if (empty) rmSync(this.shard.path("data"), { recursive: true });
    const at = ["--bind-address=127.0.0.1", `--secure-port=${new URL(url).port}`];
    this.shard = this.#stack.use(await Start.ready({ ...this.#shardOptions, in: folder.path, at }));
  }

  /** Also serves the views of another shard. */
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

  /** Returns the port of a shard's views; 0 for none. */
  portOf(shard: string): number {
    return shard === "root" ? this.wire.port : (this.#others.get(shard)?.port ?? 0);
  }

  /** Starts the views again after their process has ended. */
  async serveAgain(): Promise<void> {
    this.views = new Serve(this.views.args);
    await this.#served();
  }

  async #served(): Promise<void> {
    const { views } = this;
    await views.until("ready", () => views.port !== 0, 60_000);
  }

  /** Views, through the shard. */
  get throughShard(): Place {
    return { url: `${this.shard.url}/services`, ca: this.shard.text("apiserver.crt") };
  }

  /** Returns the views at the URL that the Shard object publishes. */
  async published(shard = "root"): Promise<Place> {
    return { url: `${(await this.#shardSpec(shard)).virtualWorkspaceURL}/services`, ca: this.authority.ca };
  }

  /** Returns the views of a shard, through it. */
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

/** Sends a GET. */
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
