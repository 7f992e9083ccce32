import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { loadKubeconfig } from "@virtual-workspaces/client";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { Authority } from "../../test/_support/certificates.ts";
import { root } from "../../tools/install.mjs";
import { startNginx } from "./nginx.ts";

/** A server of workspaces that takes part, and a front proxy before it. */
export interface Peer {
  readonly name: string;
  /** The server, as an administrator. */
  readonly shard: PeerServer;
  readonly front: PeerServer | undefined;
  /** nginx before the same server, which decides nothing: for orientation. */
  readonly nginx?: PeerServer | undefined;
}

/** A server under load. Its process is known when it listens on this machine. */
export class PeerServer implements AsyncDisposable {
  readonly upstream: Upstream;
  readonly #options: UpstreamOptions;
  readonly #pid: number | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.upstream = new Upstream({ ...options, deadlines: { head: 60_000, idle: 60_000 } });
    const { hostname, port } = new URL(options.url);
    const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
    this.#pid = isHere ? listenerAt(Number(port || 443)) : undefined;
  }

  /** CPU of the process so far, µs; NaN when it runs elsewhere. */
  get cpu(): number {
    if (this.#pid === undefined) return Number.NaN;
    const task = `/proc/${this.#pid}/task`;
    return readdirSync(task).reduce((sum, id) => sum + nanoseconds(`${task}/${id}/schedstat`), 0) / 1000;
  }

  /** Present RSS, MiB; NaN when it runs elsewhere. */
  get rss(): number {
    if (this.#pid === undefined) return Number.NaN;
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  }

  /** Returns the server at another URL, with the same trust and credentials. */
  at(url: string): PeerServer {
    return new PeerServer({ ...this.#options, url });
  }

  /** Sends a request; returns the parsed body. @throws Error for a status of 300 or more */
  async send(method: string, path: string, object?: object): Promise<Body> {
    const body = object === undefined ? {} : { body: JSON.stringify(object) };
    const headers = [
      "Accept",
      "application/json",
      ...(object === undefined ? [] : ["Content-Type", "application/json"]),
    ];
    const answer = await this.upstream.send({ method, path, headers, ...body });
    const text = answer.body.toString("utf8");
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 400)}`);
    return JSON.parse(text) as Body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
  }
}

/** Object of an API server, with the fields that the bench reads. */
export interface Body {
  readonly items?: readonly Body[];
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
  readonly spec?: { readonly cluster?: string };
  readonly status?: {
    readonly phase?: string;
    readonly endpoints?: readonly { readonly url: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Returns the peer of two kubeconfigs: of its server and, where there is one, of its front proxy. */
export async function peerOf(name: string, shard: string, front: string | undefined): Promise<Peer> {
  const server = async (file: string): Promise<PeerServer> => new PeerServer((await loadKubeconfig({ file })).upstream);
  return { name, shard: await server(shard), front: front === undefined ? undefined : await server(front) };
}

/** Starts `start` and `front-proxy` from source in the folder. */
export async function startOurs(folder: string): Promise<Peer & AsyncDisposable> {
  const token = randomBytes(16).toString("hex");
  const users = join(folder, "users.csv");
  writeFileSync(users, `${token},bench,bench,"system:kcp:admin,system:masters"\n`);
  const kcp = join(folder, "kcp");
  const authority = Authority.root("proxies");
  const proxy = authority.issue({ name: "front-proxy" });
  for (const [name, text] of [
    ["proxies.crt", authority.cert],
    ["proxy.crt", proxy.cert],
    ["proxy.key", proxy.key],
  ] as const)
    writeFileSync(join(folder, name), text);
  const own = ["--bind-address=127.0.0.1", "--secure-port=0", `--token-auth-file=${users}`];
  const keys = [`--tls-cert-file=${kcp}/apiserver.crt`, `--tls-private-key-file=${kcp}/apiserver.key`];
  const trust = `--requestheader-client-ca-file=${join(folder, "proxies.crt")}`;
  await using stack = new AsyncDisposableStack();
  const start = await Command.start(stack, [
    ...["start", `--root-directory=${kcp}`, trust, "--experimental-bind-free-port"],
    ...own,
  ]);
  const shards = join(folder, "shards.kubeconfig");
  const mapping = join(folder, "mapping.yaml");
  const config = readFileSync(join(kcp, "admin.kubeconfig"), "utf8");
  writeFileSync(shards, config.replace(/^current-context:.*$/m, "current-context: shard-base"));
  const identity = `proxy_client_cert: ${folder}/proxy.crt, proxy_client_key: ${folder}/proxy.key`;
  writeFileSync(
    mapping,
    `- {path: /clusters/, backend: "${start.url}", backend_server_ca: ${kcp}/apiserver.crt, ${identity}}
`,
  );
  const from = [`--root-kubeconfig=${shards}`, `--shards-kubeconfig=${shards}`, `--mapping-file=${mapping}`];
  const front = await Command.start(stack, ["front-proxy", ...from, ...own, ...keys]);
  const tls = { ca: readFileSync(join(kcp, "apiserver.crt"), "utf8") };
  const credentials = { get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) };
  const files = { cert: join(kcp, "apiserver.crt"), key: join(kcp, "apiserver.key") };
  const nginx = await startNginx(Number(new URL(start.url).port), files);
  const peer = {
    ...(nginx && {
      nginx: stack.use(new PeerServer({ url: `https://127.0.0.1:${stack.use(nginx).port}`, tls, credentials })),
    }),
    shard: stack.use(new PeerServer({ url: start.url, tls, credentials })),
    front: stack.use(new PeerServer({ url: front.url, tls, credentials })),
  };
  const open = stack.move();
  return { name: "ours", ...peer, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** A command of this project that serves. */
class Command {
  readonly url: string;

  private constructor(url: string) {
    this.url = url;
  }

  /** @param stack ends it, also when it never gets ready */
  static async start(stack: AsyncDisposableStack, args: readonly string[]): Promise<Command> {
    const bin = join(root, "packages/cli/src/bin.ts");
    const child = spawn(process.execPath, ["--conditions=@virtual-workspaces/source", bin, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    stack.defer(() => ended(child));
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        said.push(line);
        const [, url] = / at (https:\/\/[^/\s]+:\d+)/.exec(line.startsWith("Ready in") ? line : "") ?? [];
        if (url !== undefined) resolve(url);
      });
    child.once("exit", () => reject(new Error(`${args[0]} ended:\n${said.join("\n")}`)));
    return new Command(await promise);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}

function nanoseconds(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ", 1)[0]);
  } catch {
    return 0; // a thread that has just ended
  }
}

/** Returns the process that listens on a port of this machine; `undefined` if it is not visible. */
function listenerAt(port: number): number | undefined {
  const hex = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local = "", , state]) => local.endsWith(hex) && state === "0A")
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => inodes.some((inode) => holds(pid, inode)));
}

function holds(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === inode);
  } catch {
    return false; // another user's process
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
