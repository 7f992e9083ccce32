// An empty folder of a user, in which the test types what the README says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { localNode } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { CHILD_ENV } from "../_support/child-env.ts";
import type { Registry } from "../_support/registry.ts";

/** Flags with which a server takes a free port of this machine. */
const FREE_PORT = ["--bind-address=127.0.0.1", "--secure-port=0", "--experimental-bind-free-port"];

export class User implements Disposable {
  readonly #folder: Tree;
  readonly #env: Readonly<Record<string, string>>;

  constructor(registry: Registry, files: Readonly<Record<string, string>> = {}) {
    this.#folder = tree(files);
    this.#env = registry.env;
  }

  get path(): string {
    return this.#folder.path;
  }

  /** Runs a command until it exits. @returns its output @throws Error with its output */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const { ok, output } = await run(command, [...args], { cwd: this.path, env: this.#env });
    if (!ok) throw new Error(`${command} ${args.join(" ")}:\n${output}`);
    return output;
  }

  /** Runs a program of Node.js, such as a package manager. */
  node(...args: readonly string[]): Promise<string> {
    return this.run(localNode, ...args);
  }

  /**
   * Starts a workspace server with a command that ends in `start`, asks it with kubectl whether it is ready, and interrupts it
   * as a terminal does: all processes of the command.
   *
   * @returns its first line and the answer
   */
  async start(command: string, ...args: readonly string[]): Promise<string> {
    const env = { ...CHILD_ENV, ...this.#env, HOME: this.path };
    const server = spawn(command, [...args, ...FREE_PORT], {
      cwd: this.path,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(server, "close");
    try {
      const lines = createInterface(server.stdout);
      let ready: string | undefined;
      for await (const line of lines) {
        if (line.startsWith("Ready")) ready = line;
        if (ready !== undefined) break;
      }
      server.stdout.resume();
      const kubectl = ["--kubeconfig", join(this.path, ".kcp/admin.kubeconfig"), "get", "--raw=/readyz"];
      return `${ready}\n${await this.run("kubectl", ...kubectl)}`;
    } finally {
      if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, "SIGINT");
      await closed;
    }
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}
