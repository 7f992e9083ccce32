// A server, the provider's workspace `root:web` with the manifests of an example, and users: an administrator, the provider's
// service account and users with tokens, each with kubectl.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { cli } from "../../cli/support/dev.ts";
import { Start } from "../../cli/support/start.ts";
import { kubectl, startKubectl } from "../../go/support/kubectl.ts";
import { Program } from "../../go/support/program.ts";
import { kubectls } from "./kubectls.ts";

/** Starts a controller with a kubeconfig. */
export type StartController = (kubeconfig: string) => Program;

/** Flags of node to run a program of this project. */
const SOURCE = "--conditions=@virtual-workspaces/source";

/** Returns an example, run as its readers run it. @param flags flags of node */
export function example(file: string, ...flags: readonly string[]): StartController {
  return (kubeconfig) => new Program(localNode, [SOURCE, ...flags, file], { KUBECONFIG: kubeconfig });
}

/** Users with a token. */
export type User = "alice" | "bob";

/** A server with a provider's workspace `root:web`, and users. */
export class Provided implements AsyncDisposable {
  readonly #account: string;
  #server: Start;
  #token = "";

  /** @param account service account of the provider, in `root:web` */
  protected constructor(server: Start, account: string) {
    this.#server = server;
    this.#account = account;
  }

  /** Returns the options of a server with users. */
  static options(shards: number) {
    return { files: { "tokens.csv": "alice-token,alice,1\nbob-token,bob,2\n" }, flags: [`--shards=${shards}`] };
  }

  get server(): Start {
    return this.#server;
  }

  /** Kubeconfig of the service account for `root:web`. */
  get account(): string {
    return join(this.#server.folder.path, `${this.#account}.kubeconfig`);
  }

  /** Kills the server, and starts it again at the same address. */
  async restart(): Promise<void> {
    const { port } = new URL(this.#server.url);
    await this.#server.end("SIGKILL");
    const at = ["--bind-address=127.0.0.1", `--secure-port=${port}`];
    this.#server = await Start.ready({
      in: this.#server.folder.path,
      at,
      flags: ["--token-auth-file", join(this.#server.folder.path, "tokens.csv")],
    });
  }

  /** Runs an administrator's kubectl in a workspace, and returns its output. @throws AssertionError when it fails */
  async admin(workspace: string, ...args: readonly string[]): Promise<string> {
    const said = await this.#server.kubectl("--server", `${this.#server.url}/clusters/${workspace}`, ...args);
    expect(said, args.join(" ")).to.match(/^0 /);
    return said.slice(2);
  }

  /** Runs alice's kubectl in `root:<workspace>`. Returns its output, or a word per line when it fails. */
  user(workspace: string, ...args: readonly string[]): Promise<string> {
    return this.asked("alice", `${this.#server.url}/clusters/root:${workspace}`, ...args);
  }

  /** Runs the service account's kubectl, and returns its output. */
  provider(url: string, ...args: readonly string[]): Promise<string> {
    return this.asked(this.#account, url, ...args);
  }

  async asked(who: string, url: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", this.#home(who), ["--server", url, ...args]);
    return code === 0 ? stdout : `${stdout}${stderr}`;
  }

  /** Returns a kubeconfig of the service account for another URL. */
  accountAt(url: string, name: string): string {
    this.#kubeconfig({ user: this.#account, token: this.#token, server: url, name });
    return join(this.#server.folder.path, `${name}.kubeconfig`);
  }

  /** Starts a kubectl of the service account that keeps running. */
  started(url: string, ...args: readonly string[]): Program {
    return startKubectl(kubectls()[0] ?? "", this.#home(this.#account), ["--server", url, ...args]);
  }

  /** Creates `root:<name>` on a shard, as alice. @returns its logical cluster */
  async workspace(name: string, shard: string): Promise<string> {
    const spec = {
      type: { name: "universal", path: "root" },
      location: { selector: { matchLabels: { name: shard } } },
    };
    await this.apply("root", { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec });
    await this.admin("root", "wait", `workspace/${name}`, "--for=jsonpath={.status.phase}=Ready");
    const grant = ["clusterrolebinding", "alice", "--clusterrole=cluster-admin", "--user=alice"];
    await this.admin(`root:${name}`, "create", ...grant);
    return this.admin("root", "get", "workspace", name, "-o", "jsonpath={.spec.cluster}");
  }

  /** Waits until `is` holds for an object, and returns its content. */
  protected async read<T>(path: string, is: (object: T) => boolean): Promise<T> {
    for (const end = performance.now() + 20_000; ; ) {
      const { body } = await this.#server.get(path, { token: this.#server.token("kcp-admin") });
      const object = JSON.parse(body) as T;
      if (is(object)) return object;
      if (performance.now() > end) throw new Error(`${path} does not become what it is to be: ${body}`);
    }
  }

  async apply(workspace: string, object: object): Promise<void> {
    await this.admin(workspace, "apply", "-f", this.file(object));
  }

  /** Writes an object to a file for kubectl. */
  file(object: object): string {
    const file = join(this.#server.folder.path, "object.json");
    writeFileSync(file, JSON.stringify(object));
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** Creates `root:web`, installs the manifests of an example there, and writes the kubeconfigs. */
  protected async provide(example: string): Promise<void> {
    await this.workspace("web", "root");
    const { stdout, stderr } = await cli("manifests", example, "-o=json");
    expect(stderr).to.equal("");
    await this.apply("root:web", JSON.parse(stdout));
    const token = await this.admin("root:web", "create", "token", this.#account);
    this.#token = token;
    this.#kubeconfig({ user: this.#account, token, server: `${this.#server.url}/clusters/root:web` });
    for (const user of ["alice", "bob"] satisfies User[])
      this.#kubeconfig({ user, token: `${user}-token`, server: `${this.#server.url}/clusters/root` });
  }

  #home(who: string): { readonly home: string; readonly kubeconfig: string } {
    const home = this.#server.folder.path;
    return { home, kubeconfig: join(home, `${who}.kubeconfig`) };
  }

  #kubeconfig({
    user,
    token,
    server,
    name = user,
  }: Record<"user" | "token" | "server", string> & { readonly name?: string }): void {
    const cluster = { server, "certificate-authority": this.#server.path("apiserver.crt") };
    const config = {
      clusters: [{ name: "it", cluster }],
      users: [{ name: user, user: { token } }],
      contexts: [{ name: user, context: { cluster: "it", user } }],
      "current-context": user,
    };
    writeFileSync(join(this.#server.folder.path, `${name}.kubeconfig`), JSON.stringify(config));
  }
}
