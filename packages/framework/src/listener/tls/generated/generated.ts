import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { checkName } from "../pair.ts";
import { isGood } from "./check-certificate.ts";
import type { CertificateRequest, CertifiedSubject, KeyPair, ServerPurpose } from "./certificates.ts";
import { issue } from "./certify.ts";

/** A user with their client certificate, PEM, for a kubeconfig. */
export interface UserCertificate extends CertifiedSubject, KeyPair {}

/** Options of {@link generatedTls}. */
export interface GeneratedTlsOptions {
  /**
   * Folder of the files, created if missing. Security: anyone who can read it can impersonate any user of the servers that
   * trust it.
   */
  readonly dir: string;
  /** DNS names of the server. @default `["localhost"]` */
  readonly hosts?: readonly string[];
  /** IP addresses of the server. @default `["127.0.0.1", "::1"]` */
  readonly addresses?: readonly string[];
  /** Users who get a certificate. Names are also file names: not `ca`, not `server`. @default none */
  readonly users?: readonly CertifiedSubject[];
  /** Time for dates and checks of certificates. @default the clock */
  readonly now?: Date;
}

/** Certificates of a server and its users. */
export interface GeneratedTls {
  /**
   * For `ServerOptions.tls`: files in `dir`, so that a server reloads them after renewal. Also for Node's
   * `https.createServer`, which takes their present contents, `cert` and `key`.
   */
  readonly tls: { readonly certFile: string; readonly keyFile: string } & KeyPair;
  /** Certificate of the authority that signed the rest, PEM: for clients, and for `clientCertificates`. */
  readonly ca: string;
  readonly users: readonly UserCertificate[];
}

const AUTHORITY: CertifiedSubject = { name: "virtual-workspaces", groups: [] };

/**
 * Creates an authority on first start, with a certificate for a server and one for each user: for development, tests, and a
 * single machine. Certificates are valid for a year, the authority for ten. Stored files are reused, and renewed within a
 * month of their end, or when they are truncated, of another authority or for other names; a running server reloads them.
 * Call this once a day to renew in time, from one process at a time. The authority's key stays in the folder, readable by its
 * owner only.
 *
 * @throws Error on an invalid host, address or user, and when the folder cannot be written
 *
 * @example
 * ```ts
 * import { createServer } from "@virtual-workspaces/framework";
 * import { clientCertificates } from "@virtual-workspaces/framework/authn";
 * import { generatedTls } from "@virtual-workspaces/framework/tls";
 *
 * const { tls, ca } = await generatedTls({ dir: "tls", users: [{ name: "ann", groups: ["librarians"] }] });
 * const server = createServer({ virtualWorkspaces: [], authentication: [clientCertificates({ ca })], tls });
 * ```
 * @see docs/how-to/tls.md
 */
export async function generatedTls(options: GeneratedTlsOptions): Promise<GeneratedTls> {
  const { dir, hosts = ["localhost"], addresses = ["127.0.0.1", "::1"], users = [], now = new Date() } = options;
  const purpose = serverPurpose(hosts, addresses);
  const [name = ""] = [...purpose.hosts, ...purpose.addresses];
  for (const user of users) checkUser(user);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const ca = await ensure(fileIn(dir, "ca"), {
    isGood: (pair) => isGood(pair, { subject: AUTHORITY, now, authority: pair.cert }),
    make: () => issue({ subject: AUTHORITY, purpose: { kind: "authority" }, now }),
  });
  const below = (file: string, request: Omit<CertificateRequest, "now">): Promise<KeyPair> =>
    ensure(fileIn(dir, file), {
      isGood: (pair) => isGood(pair, { ...request, now, authority: ca.cert }),
      make: () => issue({ ...request, now }, ca),
    });
  const [server, ...certified] = await Promise.all([
    below("server", { subject: { name, groups: [] }, purpose }),
    ...users.map((subject) => below(fileOf(subject), { subject, purpose: { kind: "client" } })),
  ]);
  return {
    tls: { certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key"), ...server },
    ca: ca.cert,
    users: certified.map((pair, at) => ({ ...(users[at] as CertifiedSubject), ...pair })),
  };
}

function serverPurpose(hosts: readonly string[], addresses: readonly string[]): ServerPurpose {
  if (hosts.length + addresses.length === 0)
    throw new Error("generated TLS needs a host or an address of the server: set hosts or addresses");
  for (const address of addresses)
    if (isIP(address) === 0) throw new Error(`invalid address ${JSON.stringify(address)} of generated TLS: use an IP address`);
  return { kind: "server", hosts: hosts.map((host) => checkName(host, "generated TLS")), addresses };
}

/** A user's name may contain anything; a file name must not lead out of the folder. */
function fileOf({ name }: CertifiedSubject): string {
  return encodeURIComponent(name);
}

function checkUser({ name }: CertifiedSubject): void {
  if (name === "" || ["ca", "server"].includes(name.toLowerCase()))
    throw new Error(`invalid user name ${JSON.stringify(name)} of generated TLS: use another name`);
}

interface Recipe {
  isGood(pair: KeyPair): boolean;
  make(): Promise<KeyPair>;
}

/** Maps an ending to a file: with it, no name leads out of the folder. */
type File = (ending: "crt" | "key") => string;

function fileIn(dir: string, name: string): File {
  return (ending) => join(dir, `${name}.${ending}`);
}

async function ensure(file: File, { isGood: isStillGood, make }: Recipe): Promise<KeyPair> {
  const [cert, key] = [kept(file("crt")), kept(file("key"))];
  if (cert !== undefined && key !== undefined && isStillGood({ cert, key })) return { cert, key };
  const made = await make();
  keepPrivately(file("key"), made.key);
  keepPrivately(file("crt"), made.cert);
  return made;
}

/** Writes a file atomically: a reader sees the old one or the new one. Readable by its owner only. */
function keepPrivately(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

/** Returns the text of a file, `undefined` when there is none. */
function kept(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
