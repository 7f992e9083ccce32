// Why: several benches open a store with many workspaces, none of which a server has the time to make.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Sample } from "../_servers/workspace-copies.ts";
import type { WorkspacesProcess } from "../_servers/workspaces.ts";
import { Remote } from "./remote.ts";
import { WorkspaceClient } from "./workspace-client.ts";

/** Clients at a time, and one that watches. */
const CONNECTIONS = 17;
/** The workspace that is copied. */
export const SAMPLE = "w-sample-0000000";
/** What comes into a new workspace soon after it is Ready is there then, ms. */
const SETTLED = 500;

/** What a server uses in that time that has nothing to do, at most: µs of CPU. */
const RESTING = 25_000;

/** Until V8, which looks every eight seconds, has given back what a process needs no more that rests: ms. */
const GIVEN_BACK = 15_000;

/** Until what happened has left the memory of a server, which looks twice a minute: ms. */
const FORGOTTEN = 95_000;

/** A workspace server in a process of its own. */
export type WorkspaceServerProcess = Remote<WorkspacesProcess>;

/** Starts one; it serves nothing yet. */
export function workspaceServer(flags: readonly string[] = []): Promise<WorkspaceServerProcess> {
  return Remote.start<WorkspacesProcess>("workspaces", ["--expose-gc", ...flags]);
}

/** Serves what is kept in a folder. @returns an administrator's client */
export async function serveFrom(server: WorkspaceServerProcess, dir: string): Promise<WorkspaceClient> {
  await server.ask("open", dir);
  const { port } = await server.ask("serve");
  return new WorkspaceClient(port, CONNECTIONS);
}

/** Has a server make a workspace in a store, which is to be copied. Until it has all that belongs into it. */
export async function makeSample(dir: string): Promise<Sample> {
  await using server = await workspaceServer();
  using client = await serveFrom(server, dir);
  const made = await client.make([SAMPLE]);
  for (let [before, now] = [-1, await server.ask("head")]; now !== before; ) {
    await delay(SETTLED);
    [before, now] = [now, await server.ask("head")];
  }
  await client.check(SAMPLE);
  assert.deepEqual(await server.ask("errors"), []);
  await server.ask("close");
  return { name: SAMPLE, cluster: made.get(SAMPLE) ?? "" };
}

/** Copies it. @returns how many objects a workspace has */
export async function seed(
  dir: string,
  sample: Sample,
  which: { readonly first: number; readonly count: number },
): Promise<number> {
  await using server = await workspaceServer();
  await server.ask("open", dir);
  const objects = await server.ask("copy", { sample, ...which });
  await server.ask("close");
  return objects;
}

/** Resolves when a server rests: what it looks at once it has started is done. */
export async function rested(server: WorkspaceServerProcess): Promise<void> {
  for (let [before, now] = [0, await server.ask("cpu")]; now - before > RESTING; ) {
    await delay(SETTLED);
    [before, now] = [now, await server.ask("cpu")];
  }
}

/** The same, with memory given back to the system, as `virtual-workspaces start` does by itself. */
export async function settled(server: WorkspaceServerProcess): Promise<void> {
  await rested(server);
  // With --short figures of memory count for little.
  if (!process.argv.includes("--short")) await delay(GIVEN_BACK);
}

/** The same once it is so long ago what happened that resuming clients are told it from the store. */
export async function forgotten(server: WorkspaceServerProcess): Promise<void> {
  if (!process.argv.includes("--short")) await delay(FORGOTTEN);
  await settled(server);
}

/** Bytes: what the system gave, what of it is in use, and what is resident. */
export async function weigh(
  server: WorkspaceServerProcess,
): Promise<{ readonly anonymous: number; readonly held: number; readonly rss: number }> {
  const anonymous = await server.ask("anonymous");
  return { anonymous, ...(await server.ask("memory")) };
}
