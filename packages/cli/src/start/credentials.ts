import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Authenticator, clientCertificates, type TlsCertificate } from "@virtual-workspaces/framework";
import {
  AdminAccess,
  clientAuthority,
  ServiceAccountKeys,
  serviceAccountKeyFile,
  servingCertificate,
} from "@virtual-workspaces/workspace-server";
import { told } from "./failures.ts";
import type { StartOptions } from "./options.ts";
import { namesAt } from "./place.ts";

/** All keys and certificates of a server. */
export interface Credentials {
  readonly tls: TlsCertificate;
  /** PEM that clients trust the server by. */
  readonly ca: string;
  /** Administrators first. */
  readonly authentication: readonly Authenticator[];
  readonly serviceAccountKeys: ServiceAccountKeys;
  /** `undefined`: there are no administrators of its own. */
  readonly admin: AdminAccess | undefined;
}

/** Reads what the root directory has of them, and makes what is missing. @throws Failure naming the file and the remedy */
export async function credentialsOf(options: StartOptions): Promise<Credentials> {
  const [serving, admin, authority, serviceAccountKeys] = await Promise.all([
    told(() => servingOf(options)),
    told(() => adminOf(options)),
    told(() => (options.authentication.certified ? undefined : clientAuthority(options.rootDirectory))),
    told(() => keysOf(options)),
  ]);
  const { authenticators } = options.authentication;
  const own = authority === undefined ? [] : [clientCertificates({ caFile: authority.certFile })];
  const first = admin === undefined ? [] : [admin.authenticator];
  return { ...serving, admin, serviceAccountKeys, authentication: [...first, ...own, ...authenticators] };
}

async function servingOf({ tls, certDir, place }: StartOptions): Promise<Pick<Credentials, "tls" | "ca">> {
  if (tls !== undefined && "certFile" in tls) return { tls, ca: await readFile(tls.certFile, "utf8") };
  mkdirSync(certDir, { recursive: true, mode: 0o700 });
  const { certFile, keyFile, ca } = await servingCertificate({ dir: certDir, ...namesAt(place) });
  return { tls: { certFile, keyFile }, ca };
}

function adminOf({ admin, users, kubeconfig, tokenStore }: StartOptions): Promise<AdminAccess | undefined> {
  if (!admin) return Promise.resolve(undefined);
  for (const path of [kubeconfig, tokenStore]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return AdminAccess.load({ kubeconfig, tokenStore, users });
}

async function keysOf({ serviceAccounts: { keyFile, verification } }: StartOptions): Promise<ServiceAccountKeys> {
  const signing = await serviceAccountKeyFile(keyFile);
  try {
    return new ServiceAccountKeys({ signing, verification });
  } catch (error) {
    const others = verification.length === 0 ? "" : ", or a file of --service-account-key-file";
    throw new Error(`${(error as Error).message} (${keyFile}${others})`, { cause: error });
  }
}
