// Front door with TLS: a server on a free port with certificates of its own, and a kubeconfig for real clients. Users
// are told apart by client certificates, since kubectl sends no token over plain HTTP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  clientCertificates,
  createServer,
  type Server,
  type ServerOptions,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type Credentials, ensureCredentials } from "../../packages/cli/src/credentials/credentials.ts";
import { type Context, kubeconfig } from "../../packages/cli/src/credentials/kubeconfig.ts";
import { testLog } from "../_setup/log.ts";
import { tree } from "../_setup/tree.ts";

/** `admin` is in `system:masters`, the others in no group but `system:authenticated`. */
const USERS = [
  { name: "admin", groups: ["system:masters"] },
  { name: "alice", groups: [] },
  { name: "bob", groups: [] },
];

export interface TlsServer extends AsyncDisposable {
  readonly server: Server;
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  readonly credentials: Credentials;
  /** A folder that is gone with the server. */
  readonly folder: string;
  /**
   * Writes a kubeconfig and returns its path: one context for each of these, the first current. A context's server is
   * a URL path, `/services/notes/clusters/root`; its user is `admin` where none is named.
   */
  kubeconfig(contexts: Readonly<Record<string, string | { readonly path: string; readonly user: string }>>): string;
}

/** Starts a TLS server for `views` on a free port, 127.0.0.1. */
export async function startTls(
  views: readonly VirtualWorkspace[],
  options: Partial<ServerOptions> & { readonly port?: number } = {},
): Promise<TlsServer> {
  const folder = tree({});
  const credentials = ensureCredentials(join(folder.path, "credentials"), { users: USERS });
  const { port = 0, ...others } = options;
  const server = createServer({
    virtualWorkspaces: views,
    authentication: [clientCertificates({ ca: credentials.ca })],
    tls: { ...credentials.server, clientCa: credentials.ca },
    log: testLog().log,
    ...others,
  });
  const { url } = await server.listen({ port });
  return {
    server,
    url,
    credentials,
    folder: folder.path,
    kubeconfig: (given) => {
      const contexts = Object.entries(given).map(([name, context]): Context => {
        const { path, user } = typeof context === "string" ? { path: context, user: "admin" } : context;
        return { name, server: url + path, user };
      });
      const file = join(folder.path, `${contexts[0]?.name ?? "none"}.kubeconfig`);
      writeFileSync(file, kubeconfig({ credentials, contexts, current: contexts[0]?.name ?? "" }), { mode: 0o600 });
      return file;
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      folder[Symbol.dispose]();
    },
  };
}
