import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { checkName } from "../pair.ts";
import { isGood } from "./check-certificate.ts";
import type { CertificateRequest, CertifiedSubject, KeyPair, ServerPurpose } from "./certificates.ts";
import { issue } from "./certify.ts";

/** A user with the certificate that says so, PEM: what a kubeconfig holds. */
export interface UserCertificate extends CertifiedSubject, KeyPair {}

/** What {@link generatedTls} makes, and for whom. */
export interface GeneratedTlsOptions {
  /** Where it is kept, made if it is not there. Whoever can read it can pose as any user of the servers that trust it. */
  readonly dir: string;
  /** DNS names by which clients call the server. @default `["localhost"]` */
  readonly hosts?: readonly string[];
  /** IP addresses by which they do. @default `["127.0.0.1", "::1"]` */
  readonly addresses?: readonly string[];
  /** Who gets a certificate of their own. Names are files too: not `ca`, not `server`. @default nobody */
  readonly users?: readonly CertifiedSubject[];
  /** What certificates are dated and checked by. @default the clock */
  readonly now?: Date;
}

/** All that a server and its users need. */
export interface GeneratedTls {
  /** For `ServerOptions.tls`: files in `dir`, so that a server follows when they are renewed. */
  readonly tls: { readonly certFile: string; readonly keyFile: string };
  /** PEM of the authority that has signed the rest: what clients trust, and for `clientCertificates`. */
  readonly ca: string;
  readonly users: readonly UserCertificate[];
}

const AUTHORITY: CertifiedSubject = { name: "virtual-workspaces", groups: [] };

/**
 * An authority of one's own, made at the first start, with a certificate for a server and one for each user: for
 * development, for tests, and for one machine. Certificates are good for a year, the authority for ten. What is kept is
 * used again, and made anew when it is within a month of its end, was cut short, is of another authority or for other
 * names; a server that runs meanwhile takes it up. Whoever calls this again, once a day, renews in time. The authority's
 * key stays in the folder, readable by its owner alone. To be called by one process at a time.
 *
 * @throws Error on a host, an address or a user that cannot be certified, and when the folder cannot be written
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
  const [, ...certified] = await Promise.all([
    below("server", { subject: { name, groups: [] }, purpose }),
    ...users.map((subject) => below(fileOf(subject), { subject, purpose: { kind: "client" } })),
  ]);
  return {
    tls: { certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
    ca: ca.cert,
    users: certified.map((pair, at) => ({ ...(users[at] as CertifiedSubject), ...pair })),
  };
}

function serverPurpose(hosts: readonly string[], addresses: readonly string[]): ServerPurpose {
  if (hosts.length + addresses.length === 0)
    throw new Error("generated TLS: name a host or an address that the server is called by");
  for (const address of addresses)
    if (isIP(address) === 0) throw new Error(`generated TLS: ${JSON.stringify(address)} is no IP address`);
  return { kind: "server", hosts: hosts.map((host) => checkName(host, "generated TLS")), addresses };
}

/** The name of a user may hold anything; that of a file may not lead elsewhere. */
function fileOf({ name }: CertifiedSubject): string {
  return encodeURIComponent(name);
}

function checkUser({ name }: CertifiedSubject): void {
  if (name === "" || ["ca", "server"].includes(name.toLowerCase()))
    throw new Error(`generated TLS: a user may not be called ${JSON.stringify(name)}`);
}

interface Recipe {
  isGood(pair: KeyPair): boolean;
  make(): Promise<KeyPair>;
}

/** Names files by their ending: with it, no name leads out of the folder. */
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

/** Writes a file so that a reader sees the old one or the new one, never a part. Readable by its owner alone. */
function keepPrivately(path: string, text: string): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode: 0o600 });
  renameSync(beside, path);
}

/** The text of a file, `undefined` when there is none. */
function kept(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
