// Many agents, each of a ClusterProxy of its own, whose clusters nobody asks for anything.
import assert from "node:assert/strict";
import { Client } from "@virtual-workspaces/client";
import { Agent, type AgentEvent, AgentToken } from "@virtual-workspaces/cluster-proxy";
import { serveCommands } from "../_harness/commands.ts";

/** How many are enrolled at a time. */
const AT_ONCE = 32;

/** When they dialled, by the clock of the process, ms. */
let dials: number[] = [];
const connected = new Set<string>();
let waiting: { readonly count: number; readonly resolve: () => void } | undefined;

function heard(name: string, event: AgentEvent): void {
  if (event.type === "connected" || (event.type === "failed" && event.what === "tunnel")) dials.push(performance.now());
  if (event.type === "connected") connected.add(name);
  if (event.type === "disconnected") connected.delete(name);
  if (waiting !== undefined && connected.size === waiting.count) waiting.resolve();
}

const commands = {
  /** Enrols them, and has them dial. @returns how long it took until all were connected, ms */
  enrol: async ({
    hub,
    ca,
    names,
  }: {
    readonly hub: string;
    readonly ca: string;
    readonly names: readonly string[];
  }) => {
    const begun = performance.now();
    const credential = { headers: ["Authorization", "Bearer admin"] };
    const left = [...names];
    const one = async (name: string): Promise<void> => {
      const url = `${hub}/services/clusterproxy-agents/root/${name}`;
      await using client = new Client({ upstream: { url, tls: { ca }, credentials: { get: () => credential } } });
      const { status } = await client.resource(AgentToken).create({ metadata: { name: "" }, spec: {} });
      assert.ok(status?.token);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const agent = new Agent({
        hub: { url, tls: { ca } },
        token: status.token,
        api: { url: "http://127.0.0.1:1" },
        keep: () => undefined,
        onEvent: (event) => {
          heard(name, event);
          if (event.type === "connected") resolve();
        },
      });
      void agent.ended.then((error) => reject(error ?? new Error("an agent has ended")));
      await promise;
    };
    const worker = async (): Promise<void> => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) await one(name);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return performance.now() - begun;
  },
  /** From now on it is counted how often they dial. */
  count: (): void => {
    dials = [];
  },
  /** Waits until none of them is connected, or all. @returns when they had dialled, ms, from the first on */
  until: async (count: number): Promise<readonly number[]> => {
    if (connected.size !== count)
      await new Promise<void>((resolve) => {
        waiting = { count, resolve };
      });
    waiting = undefined;
    const [first = 0] = dials;
    return dials.map((at) => at - first);
  },
};

export type Agents = typeof commands;

serveCommands(commands);
