// Server with TLS for real clients: it has a certificate of the test authority, users with certificates and tokens, and a
// kubeconfig with all of them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createServer,
  type Server,
  type ServerOptions,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { testLog } from "../_setup/log.ts";
import { tree } from "../_setup/tree.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "./certificates.ts";

/** Authority that clients trust, and that issues the certificates of servers and users. */
export interface TestAuthority {
  /** Certificate of the authority, PEM. */
  readonly ca: string;
  readonly server: KeyPair;
  /** @param validity hours from now @default from -1 to 1 */
  client(name: string, groups: readonly string[], validity?: { readonly from?: number; readonly to?: number }): KeyPair;
}

/** Creates an authority that is valid for an hour. @param hosts more host names of its servers */
export function createAuthority({ hosts = [] }: { readonly hosts?: readonly string[] } = {}): TestAuthority {
  const root = Authority.root("virtual-workspaces-test");
  return {
    ca: root.cert,
    server: root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH], hosts }),
    client: (name, organizations, validity) => root.issue({ name, organizations, ...validity }),
  };
}

/** Default user of kubeconfigs, with a client certificate. */
const ADMIN = { name: "admin", groups: ["admins"] } as const;
/** User with a token. */
export const ALICE = { name: "alice", token: "alice-token" } as const;

export interface TlsServerOptions extends Partial<ServerOptions> {
  /** Port. @default any free one; a server that replaces another names its port */
  readonly port?: number;
  /** Authority that clients trust and that certifies servers. @default a new one */
  readonly authority?: TestAuthority;
}

/** Running server with TLS. */
export interface TlsServer extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly authority: TestAuthority;
  /** Ends watches cleanly and closes; kubeconfigs remain. */
  close(): Promise<void>;
}

/** Starts a server for `views`. */
export async function startTls(
  views: readonly VirtualWorkspace[],
  { port = 0, authority, ...options }: TlsServerOptions = {},
): Promise<TlsServer> {
  const trusted = authority ?? createAuthority();
  const server = createServer({
    virtualWorkspaces: views,
    authentication: [clientCertificates({ ca: trusted.ca }), staticTokens({ [ALICE.token]: { name: ALICE.name } })],
    tls: { ...trusted.server, clientCa: trusted.ca },
    log: testLog().log,
    ...options,
  });
  const listening = await server.listen({ port });
  const close = (): Promise<void> => server.close();
  return { server, port: listening.port, authority: trusted, close, [Symbol.asyncDispose]: close };
}

export interface KubeconfigOptions {
  readonly authority: TestAuthority;
  readonly port: number;
  /** Paths of virtual workspaces by context: `{ quotes: "/services/quotes/clusters/root" }`. The first is the current context. */
  readonly contexts: Readonly<Record<string, string>>;
  readonly user?: "admin" | "alice";
  /** Token of the user with one. @default alice's; the admin has a certificate */
  readonly token?: string;
  /** Namespace of the current context. */
  readonly namespace?: string;
}

/** Folder with a kubeconfig, for use as HOME, which is deleted at the end of its `using` block. */
export interface KubeconfigHome extends Disposable {
  readonly home: string;
  readonly kubeconfig: string;
}

/** Writes a kubeconfig. */
export async function kubeconfigHome(options: KubeconfigOptions): Promise<KubeconfigHome> {
  const { authority, port, contexts, user = "admin", token, namespace } = options;
  const names = Object.keys(contexts);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": names[0],
    clusters: Object.entries(contexts).map(([name, path]) => ({
      name,
      cluster: { server: `https://127.0.0.1:${port}${path}`, "certificate-authority-data": base64(authority.ca) },
    })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user, ...(namespace && { namespace }) } })),
    users: [
      {
        name: user,
        user: user === "admin" && token === undefined ? certificateOf(authority) : { token: token ?? ALICE.token },
      },
    ],
  };
  const folder = tree({});
  const kubeconfig = join(folder.path, "admin.kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { home: folder.path, kubeconfig, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

function certificateOf(authority: TestAuthority): Record<string, string> {
  const { cert, key } = authority.client(ADMIN.name, ADMIN.groups);
  return { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
