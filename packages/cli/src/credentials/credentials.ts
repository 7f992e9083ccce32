import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readIfThere, writePrivately } from "../files.ts";
import { isGood } from "./check.ts";
import { issue, type KeyPair, type Purpose, type Subject } from "./issue.ts";

/** A user of the server, with the certificate that says so. */
export interface UserCredentials extends Subject, KeyPair {}

/** All that a server on this machine and its users need, PEM. */
export interface Credentials {
  /** The certificate of the authority that signed the rest. */
  readonly ca: string;
  readonly server: KeyPair;
  readonly users: readonly UserCredentials[];
}

export interface CredentialsOptions {
  readonly users: readonly Subject[];
  /** What certificates are dated and checked by. @default the clock */
  readonly now?: Date;
}

const AUTHORITY: Subject = { name: "virtual-workspaces dev", groups: [] };
const SERVER: Subject = { name: "localhost", groups: [] };
const LOOPBACK: Purpose = {
  kind: "server",
  hosts: ["localhost"],
  addresses: ["127.0.0.1", "::1"],
};

/**
 * Reads the certificates kept in `dir` and makes those that are missing, close to their end, or of another authority.
 * The authority's key never leaves the folder; whoever reads it can pose as any user of the servers started there.
 */
export async function ensureCredentials(
  dir: string,
  { users, now = new Date() }: CredentialsOptions,
): Promise<Credentials> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const ca = await ensure(join(dir, "ca"), {
    isGood: (pair) => isGood(pair, { subject: AUTHORITY, now, authority: pair.cert }),
    make: () => issue({ subject: AUTHORITY, purpose: { kind: "authority" }, now }),
  });
  const server = ensure(join(dir, "server"), {
    isGood: (pair) => isGood(pair, { subject: SERVER, now, authority: ca.cert, host: "localhost" }),
    make: () => issue({ subject: SERVER, purpose: LOOPBACK, now }, ca),
  });
  const user = async (subject: Subject): Promise<UserCredentials> => {
    const pair = await ensure(join(dir, subject.name), {
      isGood: (kept) => isGood(kept, { subject, now, authority: ca.cert }),
      make: () => issue({ subject, purpose: { kind: "client" }, now }, ca),
    });
    return { ...subject, ...pair };
  };
  return { ca: ca.cert, server: await server, users: await Promise.all(users.map(user)) };
}

interface Recipe {
  isGood(pair: KeyPair): boolean;
  make(): Promise<KeyPair>;
}

async function ensure(path: string, { isGood: isStillGood, make }: Recipe): Promise<KeyPair> {
  const cert = readIfThere(`${path}.crt`);
  const key = readIfThere(`${path}.key`);
  if (cert !== undefined && key !== undefined && isStillGood({ cert, key })) return { cert, key };
  const made = await make();
  writePrivately(`${path}.key`, made.key);
  writePrivately(`${path}.crt`, made.cert);
  return made;
}
