// A kind or k3d that needs no Docker; all its clusters are ended after the test.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  k3dProvider,
  kindProvider,
  type LocalClustersOptions,
  type SpaceProviderType,
} from "@virtual-workspaces/spaces";
import { localNode } from "../../../../tools/install.mjs";
import { tree } from "../../../_setup/tree.ts";
import { until } from "../../../_support/until.ts";
import { Opened } from "./processes.ts";

const PROGRAM = join(import.meta.dirname, "stand-in.fixture.ts");

export class StandIn implements AsyncDisposable {
  readonly tool: "kind" | "k3d";
  readonly logged: string[] = [];
  readonly #folder = tree({});
  readonly #stack = new AsyncDisposableStack();

  constructor(tool: "kind" | "k3d") {
    this.tool = tool;
    const text = `#!/bin/sh\nexec "${localNode}" --conditions=@virtual-workspaces/source "${PROGRAM}" ${tool} "$@"\n`;
    writeFileSync(this.command, text);
    chmodSync(this.command, 0o755);
  }

  get command(): string {
    return join(this.#folder.path, this.tool);
  }

  path(...names: readonly string[]): string {
    return join(this.#folder.path, ...names);
  }

  /** Environment with a kubeconfig of the user. */
  get env(): Readonly<Record<string, string | undefined>> {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    return { PATH, NODE_COMPILE_CACHE, STAND_IN: this.#folder.path, KUBECONFIG: this.command };
  }

  type(options: LocalClustersOptions = {}): SpaceProviderType {
    const all = { command: this.command, env: this.env, ...options };
    return this.tool === "kind" ? kindProvider(all) : k3dProvider(all);
  }

  async open(options: LocalClustersOptions = {}): Promise<Opened> {
    const log = ({ message, error }: { message: string; error?: unknown }): void =>
      void this.logged.push(`${message} ${error ?? ""}`);
    return this.#stack.use(
      new Opened(
        await this.type(options).open({ name: "here", secret: {}, log, signal: new AbortController().signal }),
      ),
    );
  }

  /** Sets the faults of later commands. */
  faults(faults: Readonly<Record<string, string>>): void {
    writeFileSync(this.path("faults.json"), JSON.stringify(faults));
  }

  get calls(): readonly string[] {
    return existsSync(this.path("calls")) ? readFileSync(this.path("calls"), "utf8").trimEnd().split("\n") : [];
  }

  get clusters(): readonly string[] {
    return existsSync(this.path("clusters")) ? readdirSync(this.path("clusters")) : [];
  }

  /** Waits until a part of a cluster exists. */
  async appears(cluster: string): Promise<void> {
    await until(() => this.clusters.includes(cluster));
  }

  pid(cluster: string): number {
    return Number(readFileSync(this.path("clusters", cluster, "pid"), "utf8"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
    for (const cluster of this.clusters)
      if (existsSync(this.path("clusters", cluster, "pid"))) process.kill(this.pid(cluster), "SIGKILL");
    this.#folder[Symbol.dispose]();
  }
}
