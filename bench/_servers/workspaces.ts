// What is measured: a workspace server over a store on disk, as `virtual-workspaces start` has it, without TLS.
import { generateKeyPairSync } from "node:crypto";
import { staticTokens } from "@virtual-workspaces/framework";
import type { Log } from "@virtual-workspaces/framework/server";
import { type KeyRange, lmdbStore, type Store } from "@virtual-workspaces/store";
import {
  createWorkspaceServer,
  loopback,
  ServiceAccountKeys,
  type WorkspaceServer,
} from "@virtual-workspaces/workspace-server";
import { RestingMemory } from "../../packages/cli/src/process/resting-memory.ts";
import { kcpViews } from "../../packages/cli/src/views/kcp-views.ts";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";
import { copyWorkspaces, type Sample } from "./workspace-copies.ts";

const signing = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
const serviceAccountKeys = new ServiceAccountKeys({ signing: signing.toString() });
const users = { admin: { name: "kcp-admin", groups: ["system:kcp:admin"] } };
/** The same at each start: else every workspace would have to be told where it is now. */
const URL = "https://workspaces.example:6443";

let store: Store;
let server: WorkspaceServer | undefined;
const errors: unknown[] = [];
/** All keys there are: what they begin with is ASCII. */
const everything: KeyRange = { from: "", to: "\u{10FFFF}" };
/** Of a transaction. */
const OPERATIONS = 128;
new RestingMemory();

async function keys(): Promise<string[]> {
  return (await store.range(everything)).entries.map(({ key }) => key);
}

const commands = {
  ...anonymousMemory,
  /** Opens the store. */
  open: async (dir: string): Promise<void> => {
    store = await lmdbStore({ dir });
  },
  /** Serves it. @returns where, and how long it took until it is ready: ms, and ms of CPU */
  serve: async (): Promise<{ readonly port: number; readonly ms: number; readonly cpu: number }> => {
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    const log: Log = ({ level, message, ...rest }) => {
      if (level === "error" || level === "warn") errors.push({ message, ...rest });
    };
    const own = loopback();
    server = createWorkspaceServer({
      store,
      loopback: own,
      virtualWorkspaces: kcpViews(own, log),
      authentication: [staticTokens(users)],
      serviceAccountKeys,
      tls: false,
      urls: () => ({ baseURL: URL, externalURL: URL, virtualWorkspaceURL: URL }),
      rootCa: () => "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
      log,
    });
    const { port } = await server.listen({ port: 0 });
    const { user, system } = process.cpuUsage(cpu);
    return { port, ms: performance.now() - began, cpu: (user + system) / 1000 };
  },
  close: async (): Promise<void> => {
    await server?.close();
    await store[Symbol.asyncDispose]();
  },
  /** What is in the store. */
  keys,
  /** Deletes all else, so that no finalizer is waited for. @returns how many objects went */
  keepOnly: async (kept: readonly string[]): Promise<number> => {
    const wanted = new Set(kept);
    const others = (await keys()).filter((key) => !wanted.has(key));
    for (let at = 0; at < others.length; at += OPERATIONS) {
      const operations = others.slice(at, at + OPERATIONS).map((key) => ({ type: "delete", key }) as const);
      await store.commit({ conditions: [], operations });
    }
    return others.length;
  },
  /** The store's revision: how much was written. */
  head: () => store.head(),
  /** What was logged, warnings and worse. */
  errors: (): unknown[] => errors,
  copy: ({ sample, ...which }: { readonly sample: Sample; readonly first: number; readonly count: number }) =>
    copyWorkspaces(store, sample, which),
};

export type WorkspacesProcess = typeof commands;

serveCommands(commands);
