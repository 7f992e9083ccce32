// Runs a real `virtual-workspaces start` in its own folder, and sends requests as its administrators.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { localNode, root } from "../../../tools/install.mjs";
import { type Tree, tree } from "../../_setup/tree.ts";
import { processesIn } from "../../_support/processes-in.ts";
import { kubectls } from "../../e2e/support/kubectls.ts";
import { kubectl } from "../../go/support/kubectl.ts";
import { Program } from "../../go/support/program.ts";

const BINARY = ["--conditions=@virtual-workspaces/source", join(root, "packages/cli/src/bin.ts"), "start"];
/** Any free port on the loopback interface. */
const ANYWHERE = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"];

/** Time limit for the end of a server with its processes, in ms. */
const PATIENCE = 20_000;

export interface StartOptions {
  /** Existing folder, which is not deleted. @default a new one */
  readonly in?: string;
  /** Root directory, in the folder. @default "kcp" */
  readonly root?: string;
  readonly flags?: readonly string[];
  /** Users by token, `tokens.csv`. @default only administrators */
  readonly files?: { readonly "tokens.csv": string };
  /** Flags for the address. @default any free port of 127.0.0.1 */
  readonly at?: readonly string[];
  /** File to load before the command. @default none */
  readonly preload?: string;
  /** Deadline of the start, in ms. @default 20000 */
  readonly within?: number;
}

/** Answer to a request. */
export interface Answer {
  readonly code: number;
  readonly body: string;
}

/** A running server, ended or killed at the end of its `await using` block. */
export class Start extends Program {
  /** Folder with the root directory. */
  readonly folder: Tree;
  readonly #root: string;

  constructor({ in: path, root = "kcp", flags = [], files, at = ANYWHERE, preload }: StartOptions = {}) {
    const folder = path === undefined ? tree({ ...files }) : { path, [Symbol.dispose]: () => undefined };
    const rootDirectory = join(folder.path, root);
    const users = files === undefined ? [] : ["--token-auth-file", join(folder.path, "tokens.csv")];
    const first = preload === undefined ? [] : ["--import", pathToFileURL(preload).href];
    const args = [...first, ...BINARY, "--root-directory", rootDirectory, ...at, ...users, ...flags];
    super(localNode, args, { HOME: folder.path });
    this.folder = folder;
    this.#root = rootDirectory;
  }

  /** Starts the server, and waits until it serves. */
  static async ready(options?: StartOptions): Promise<Start> {
    const server = new Start(options);
    try {
      await server.until("ready", () => server.url !== "", options?.within ?? 20_000);
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Returns a path in the root directory. */
  path(name: string): string {
    return join(this.#root, name);
  }

  text(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  get url(): string {
    return / at (https:\S+)\/clusters\/root$/m.exec(this.lines.join("\n"))?.[1] ?? "";
  }

  get home(): { readonly home: string; readonly kubeconfig: string } {
    return { home: this.folder.path, kubeconfig: this.path("admin.kubeconfig") };
  }

  token(user: string): string {
    const { users } = parse(this.text("admin.kubeconfig")) as {
      readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[];
    };
    return users.find(({ name }) => name === user)?.user.token ?? "";
  }

  /** Runs kubectl. Returns its exit code and output. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", this.home, args);
    return `${code} ${stdout}${stderr}`;
  }

  /** Creates an object as `root-token`. */
  async create(path: string, object: object): Promise<Answer> {
    const headers = { authorization: "Bearer root-token", "content-type": "application/json" };
    const options = { method: "POST", ca: this.text("apiserver.crt"), headers, agent: false };
    const req = request(this.url + path, options).end(JSON.stringify(object));
    const [res] = (await once(req, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of res.setEncoding("utf8")) body += piece;
    return { code: res.statusCode ?? 0, body };
  }

  /** Sends a GET with a bearer token, or without credentials, to the server or to one of its shards, without retries. */
  async get(
    path: string,
    { token, ca = this.text("apiserver.crt"), at = this.url }: { token?: string; ca?: string; at?: string } = {},
  ): Promise<Answer> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const req = request(at + path, { ca, headers, agent: false }).end();
    const [res] = (await once(req, "response")) as [IncomingMessage];
    let body = "";
    for await (const piece of res.setEncoding("utf8")) body += piece;
    return { code: res.statusCode ?? 0, body };
  }

  /** Sends a signal, and returns the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.signal(signal);
    return (await this.ended).code;
  }

  /** Ends the server gracefully if it has processes of Spaces: they end with it, but stay when it is killed. */
  override async [Symbol.asyncDispose](): Promise<void> {
    if (this.running && processesIn(this.folder.path).length > 0) {
      this.signal("SIGTERM");
      await Promise.race([this.ended, delay(PATIENCE, undefined, { ref: false })]);
    }
    await super[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}
