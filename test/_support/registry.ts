// A package registry on this machine, to publish to and to install from as users do. Packages of others come from the registry
// that npm uses here, once: they are kept in node_modules/.cache/registry.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureInstalled, localNode, root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";
import { tarballs } from "./tarballs.ts";

const home = join(root, "tools/registry");

/** Programs of users that are no dependencies of the repository, as arguments of Node.js. */
export const USERS = {
  pnpm: join(home, "node_modules/pnpm/bin/pnpm.mjs"),
  yarnClassic: join(home, "node_modules/yarn/bin/yarn.js"),
  yarn: join(home, "node_modules/@yarnpkg/cli-dist/bin/yarn.js"),
  "tsc 5.9": join(home, "node_modules/typescript-5.9/bin/tsc"),
  "tsc 6": join(home, "node_modules/typescript-6/bin/tsc"),
} as const;

/** A registry in a process of its own. Nothing that is published to it or installed from it survives its disposal. */
export class Registry implements AsyncDisposable {
  /** Ends with a slash. */
  readonly url: string;
  /** Environment of npm, pnpm and yarn that use this registry, with empty caches, without install scripts, and with rights to publish. */
  readonly env: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #folder: Tree;

  private constructor(url: string, child: ChildProcess, folder: Tree) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
    this.env = environment(url, folder.path);
  }

  static async start(): Promise<Registry> {
    await ensureInstalled(home);
    const { output: upstream } = await run("npm", ["config", "get", "registry"]);
    const folder = tree({});
    const cache = join(root, "node_modules/.cache/registry");
    const child = spawn(localNode, [join(home, "serve.mjs"), folder.path, upstream, cache], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [url] = await Promise.race([
      once(createInterface(child.stdout), "line"),
      once(child, "close").then(() => [undefined]),
    ]);
    if (typeof url !== "string") throw new Error("the registry ended before it listened");
    const registry = new Registry(url, child, folder);
    await registry.#login();
    return registry;
  }

  /** Creates the user that publishes, as `npm adduser` does. */
  async #login(): Promise<void> {
    const user = { name: "publisher", password: "a password", type: "user" };
    const response = await fetch(`${this.url}-/user/org.couchdb.user:publisher`, {
      method: "PUT",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify(user),
    });
    const { token, error } = (await response.json()) as { readonly token?: string; readonly error?: string };
    if (token === undefined) throw new Error(`no token from the registry: ${error}`);
    const lines = [`registry=${this.url}`, `${this.url.slice("http:".length)}:_authToken=${token}`];
    writeFileSync(join(this.#folder.path, "npmrc"), `${lines.join("\n")}\n`);
  }

  /** Runs `npm publish` for a tarball or a folder. */
  async publish(what: string, ...flags: readonly string[]): Promise<void> {
    const args = ["publish", what, "--access=public", "--ignore-scripts", ...flags];
    const { ok, output } = await run("npm", args, { cwd: this.#folder.path, env: this.env });
    if (!ok) throw new Error(`npm ${args.join(" ")}:\n${output}`);
  }

  /** Publishes every package of the repository in its current state. */
  async publishAll(): Promise<void> {
    await Promise.all((await tarballs()).map((tarball) => this.publish(tarball)));
  }

  /** Warnings and errors that the registry has logged, one JSON object a line. */
  get log(): string {
    return readFileSync(join(this.#folder.path, "registry.log"), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.stdin?.end();
    await ended;
    this.#folder[Symbol.dispose]();
  }
}

function environment(url: string, folder: string): Record<string, string> {
  return {
    npm_config_userconfig: join(folder, "npmrc"),
    npm_config_globalconfig: join(folder, "global-npmrc"),
    npm_config_registry: url,
    npm_config_cache: join(folder, "npm-cache"),
    npm_config_ignore_scripts: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CACHE_HOME: join(folder, "cache"),
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CONFIG_HOME: join(folder, "config"),
    YARN_CACHE_FOLDER: join(folder, "yarn-cache"),
    YARN_REGISTRY: url,
    YARN_GLOBAL_FOLDER: join(folder, "yarn"),
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_UNSAFE_HTTP_WHITELIST: "127.0.0.1",
    YARN_ENABLE_SCRIPTS: "false",
    YARN_ENABLE_TELEMETRY: "false",
  };
}
