// The rival: bare `node:https` that asks each of many servers for a list, and then holds a watch on the same connection.

import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";

interface Target {
  readonly port: number;
  readonly ca: string;
  readonly from: number;
  readonly count: number;
}

/** As lists across Spaces begin. */
const AT_ONCE = 16;
const held: IncomingMessage[] = [];

function get({ port, ca }: Target, path: string, agent: Agent): Promise<IncomingMessage> {
  const headers = { Authorization: "Bearer bench", Accept: "application/json" };
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, ca, path, agent, headers }, resolve).once("error", reject).end();
  });
}

async function hold(target: Target, space: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const path = `/s/${space}/api/v1/configmaps`;
  const pieces: Buffer[] = [];
  for await (const piece of await get(target, path, agent)) pieces.push(piece);
  const { metadata } = JSON.parse(Buffer.concat(pieces).toString()) as { metadata: { resourceVersion: string } };
  const watch = await get(target, `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, agent);
  watch.on("data", () => undefined);
  held.push(watch);
}

const commands = {
  ...anonymousMemory,
  /** @returns how long it took, ms */
  hold: async (target: Target): Promise<number> => {
    const begun = performance.now();
    const waiting = Array.from({ length: target.count }, (_, at) => target.from + at).values();
    const work = async (): Promise<void> => {
      for (const space of waiting) await hold(target, space);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return performance.now() - begun;
  },
};

export type SpacesHeld = typeof commands;

serveCommands(commands);
