// Runs a real `virtual-workspaces agent`, which shares only the address with its hub.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Tree, tree } from "../../_setup/tree.ts";
import { VirtualWorkspaces } from "./virtual-workspaces.ts";

/** Files for an agent. */
export interface AgentFiles {
  /** Output of `agent token`. */
  readonly bootstrap?: string;
  /** Kubeconfig of the remote cluster. */
  readonly cluster: string;
  /** Content of its `--allow-file`. @default none */
  readonly allow?: string;
  /** Stored state of an earlier agent. @default none */
  readonly hub?: string;
  /** Number of hubs to dial. @default the agent's default */
  readonly hubs?: number;
}

/** Running agent, killed at the end of its `await using` block. */
export class AgentProgram extends VirtualWorkspaces {
  readonly folder: Tree;

  constructor({ bootstrap, cluster, allow, hub, hubs }: AgentFiles) {
    const folder = tree({ "cluster.kubeconfig": cluster });
    const at = (name: string): string => join(folder.path, name);
    const given = { "bootstrap.kubeconfig": bootstrap, "hub.kubeconfig": hub, "allow.yaml": allow };
    for (const [name, text] of Object.entries(given))
      if (text !== undefined) writeFileSync(at(name), text, { mode: 0o600 });
    const flags = [
      ...["--hub-kubeconfig", at("hub.kubeconfig"), "--kubeconfig", at("cluster.kubeconfig")],
      ...(bootstrap === undefined ? [] : ["--bootstrap-kubeconfig", at("bootstrap.kubeconfig")]),
      ...(allow === undefined ? [] : ["--allow-file", at("allow.yaml")]),
      ...(hubs === undefined ? [] : [`--hubs=${hubs}`]),
    ];
    super(["agent", ...flags], { HOME: folder.path });
    this.folder = folder;
  }

  /** Waits until its log contains a text this many times. */
  async said(text: RegExp, times = 1): Promise<void> {
    await this.until(
      String(text),
      () => this.stderr.split("\n").filter((line) => text.test(line)).length >= times,
      30_000,
    );
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

/** Returns a kubeconfig of a cluster with the agent's token. */
export function clusterAt(server: string): string {
  const [name] = ["it"];
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: { token: "agents-own" } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}
