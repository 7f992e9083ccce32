// Our side.
import { randomUUID } from "node:crypto";
import { anonymous, staticTokens } from "@virtual-workspaces/framework";
import { memoryStore } from "@virtual-workspaces/store";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";
import type { Subject } from "./play.ts";

/** As kcp's administrators, and as `--token-auth-file` makes users. */
const USERS = {
  root: { name: "shard-admin", groups: ["system:masters"], uid: randomUUID() },
  admin: { name: "kcp-admin", groups: ["system:kcp:admin"], uid: randomUUID() },
  alice: { name: "alice", uid: "alice" },
  bob: { name: "bob", uid: "bob" },
};

/** A workspace server in this process. Its tokens are the users' names. */
export async function startOurs(): Promise<Subject & AsyncDisposable> {
  const server = await startWorkspaces(memoryStore(), { authentication: [staticTokens(USERS), anonymous()] });
  return {
    url: server.url,
    headers: {},
    patienceMs: 10_000,
    tokens: { root: "root", admin: "admin", alice: "alice", bob: "bob" },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
