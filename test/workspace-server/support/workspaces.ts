// A workspace server in this process, and clients of administrators and users.
import { staticTokens } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { memoryStore, type Store } from "@virtual-workspaces/store";
import {
  createWorkspaceServer,
  ServiceAccountKeys,
  type WorkspaceServer,
  type WorkspaceServerOptions,
} from "@virtual-workspaces/workspace-server";
import { testLog } from "../../_setup/log.ts";
import { signingKey } from "../../_support/issuer.ts";
import { type Calls, callsTo } from "../../_support/plain.ts";
import type { TestAuthority } from "../../_support/server.ts";
import { pemOf } from "./accounts.ts";

/** Tokens equal the users' names. */
const USERS = {
  root: { name: "shard-admin", groups: ["system:masters"] },
  admin: { name: "kcp-admin", groups: ["system:kcp:admin"] },
  alice: { name: "alice" },
  bob: { name: "bob" },
};

export interface Workspaces extends Calls, AsyncDisposable {
  readonly url: string;
  readonly server: WorkspaceServer;
}

export interface WorkspacesOptions extends Partial<WorkspaceServerOptions> {
  /** Authority of its serving certificate, for clients like kubectl that send tokens only over TLS. @default none */
  readonly authority?: TestAuthority;
  /** Whether requests without credentials are anonymous, as in kcp. @default true */
  readonly nameless?: boolean;
  /** Further users; their tokens equal their names. */
  readonly users?: readonly string[];
}

/** Starts a server over a store. @default a new store in memory */
export async function startWorkspaces(
  store: Store = memoryStore(),
  { authority, nameless = true, users = [], ...options }: WorkspacesOptions = {},
): Promise<Workspaces> {
  const named = { ...USERS, ...Object.fromEntries(users.map((name) => [name, { name }])) };
  const server = createWorkspaceServer({
    store,
    authentication: [staticTokens(named), ...(nameless ? [anonymous()] : [])],
    serviceAccountKeys: new ServiceAccountKeys({ signing: pemOf(signingKey().privateKey, "pkcs8") }),
    rootCa: () => "-----BEGIN CERTIFICATE-----",
    log: testLog().log,
    ...(authority && { tls: authority.server }),
    ...options,
  });
  const { url } = await server.listen({ port: 0 }).catch(async (error) => {
    await server.close();
    throw error;
  });
  return { url, server, ...callsTo(url), [Symbol.asyncDispose]: () => server.close() };
}
