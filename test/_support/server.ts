// Front door with TLS, as real clients come: a server with a certificate of the test authority, users with certificates
// and tokens, and the kubeconfig that names all that.
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

/** Whom clients trust, what servers show, and how users get their certificates. */
export interface TestAuthority {
  /** The authority's own certificate, PEM. */
  readonly ca: string;
  readonly server: KeyPair;
  /** @param validity hours from now @default from an hour ago, for an hour */
  client(name: string, groups: readonly string[], validity?: { readonly from?: number; readonly to?: number }): KeyPair;
}

/** A new one, for an hour. @param hosts what its servers are called besides */
export function createAuthority({ hosts = [] }: { readonly hosts?: readonly string[] } = {}): TestAuthority {
  const root = Authority.root("virtual-workspaces-test");
  return {
    ca: root.cert,
    server: root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH], hosts }),
    client: (name, organizations, validity) => root.issue({ name, organizations, ...validity }),
  };
}

/** The user that kubeconfigs name unless told otherwise: a client certificate. */
const ADMIN = { name: "admin", groups: ["admins"] } as const;
/** A user with a token instead. */
export const ALICE = { name: "alice", token: "alice-token" } as const;

export interface TlsServerOptions extends Partial<ServerOptions> {
  /** @default any free one; a server that takes another's place names its port */
  readonly port?: number;
  /** Whom clients trust and servers are certified by. @default a new one */
  readonly authority?: TestAuthority;
}

/** A server with TLS that is up. */
export interface TlsServer extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly authority: TestAuthority;
  /** Ends watches cleanly and closes; the kubeconfigs stay. */
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
  /** Context name to the path of a virtual workspace: `{ quotes: "/services/quotes/clusters/root" }`. The first is current. */
  readonly contexts: Readonly<Record<string, string>>;
  readonly user?: "admin" | "alice";
  /** Of a user with one. @default alice's; the admin has a certificate */
  readonly token?: string;
  /** Of the current context. */
  readonly namespace?: string;
}

/** A folder with a kubeconfig in it, to be the HOME of whoever uses it; gone at the end of its `using` block. */
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
