// Our workspace server as a subject.
import { randomUUID } from "node:crypto";
import { ApiModel, apiExportView, apiResourceSchemaView } from "@virtual-workspaces/apiexport";
import { staticTokens } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { memoryStore } from "@virtual-workspaces/store";
import { builtInKinds, loopback } from "@virtual-workspaces/workspace-server";
import type { TestAuthority } from "../../_support/server.ts";
import { lifecycleViews } from "../../plugins/lifecycle/support/owner.ts";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";
import type { Subject } from "./play.ts";

/** Users as kcp defines them: its administrators, and those of `--token-auth-file`. */
const USERS = {
  root: { name: "shard-admin", groups: ["system:masters"], uid: randomUUID() },
  admin: { name: "kcp-admin", groups: ["system:kcp:admin"], uid: randomUUID() },
  alice: { name: "alice", uid: "alice" },
  bob: { name: "bob", uid: "bob" },
};

/**
 * Starts a workspace server in this process, with kcp's views. Its tokens are the users' names. With an authority it serves
 * only TLS.
 */
export async function startOurs(authority?: TestAuthority): Promise<Subject & AsyncDisposable> {
  const authentication = [staticTokens(USERS), anonymous()];
  const server = await startWorkspaces(memoryStore(), { authentication, ...views(), ...(authority && { authority }) });
  return {
    url: server.url,
    headers: {},
    ...(authority && { tls: { ca: authority.ca } }),
    patienceMs: 10_000,
    tokens: { root: "root", admin: "admin", alice: "alice", bob: "bob" },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function views() {
  const own = loopback();
  const { upstream, identity } = own;
  const kinds = builtInKinds.map(({ resource }) => resource);
  const common = { upstream, model: new ApiModel({ upstream }) };
  const exported = [apiExportView({ ...common, identity, kinds }), apiResourceSchemaView(common)];
  return { loopback: own, virtualWorkspaces: [...exported, ...lifecycleViews({ upstream })] };
}
