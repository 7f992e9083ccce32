import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Authenticator } from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import type { TlsCertificate } from "@virtual-workspaces/framework/tls";
import {
  AdminAccess,
  clientAuthority,
  ensureRootDirectory,
  ServiceAccountKeys,
  serviceAccountKeyFile,
  servingCertificate,
} from "@virtual-workspaces/workspace-server";
import { Failure, orFail } from "../process/failure.ts";
import { readIfThere, writePrivately } from "../process/files.ts";
import { acquire, type Lock } from "../process/lock.ts";
import { KUBECTL_PLUGINS, shellWord } from "../process/programs.ts";
import { namesAt } from "./endpoint.ts";
import type { StartOptions } from "./start-options.ts";

/** All keys and certificates of a server. */
export interface Credentials {
  readonly tls: TlsCertificate;
  /** Certificate authority of the server for clients, PEM. */
  readonly ca: string;
  /** Administrators first. */
  readonly authentication: readonly Authenticator[];
  readonly serviceAccountKeys: ServiceAccountKeys;
  /** Credentials of administrators; `undefined` without them. */
  readonly admin: AdminAccess | undefined;
}

/** Reads the credentials in the root directory, and creates missing ones. @throws Failure naming the file and the remedy */
export async function credentialsOf(options: StartOptions): Promise<Credentials> {
  const [serving, admin, authority, serviceAccountKeys] = await Promise.all([
    orFail(() => servingOf(options)),
    orFail(() => adminOf(options)),
    orFail(() => (options.authentication.certified ? undefined : clientAuthority(options.rootDirectory))),
    orFail(() => keysOf(options)),
  ]);
  const { authenticators } = options.authentication;
  const own = authority === undefined ? [] : [clientCertificates({ caFile: authority.certFile })];
  const first = admin === undefined ? [] : [admin.authenticator];
  return { ...serving, admin, serviceAccountKeys, authentication: [...first, ...own, ...authenticators] };
}

async function servingOf({ tls, certDir, place, features }: StartOptions): Promise<Pick<Credentials, "tls" | "ca">> {
  if (tls !== undefined && "certFile" in tls) return { tls, ca: await readFile(tls.certFile, "utf8") };
  mkdirSync(certDir, { recursive: true, mode: 0o700 });
  const hosts = features.flatMap(({ hosts = [] }) => hosts);
  const { certFile, keyFile, ca } = await servingCertificate({ dir: certDir, ...namesAt(place, hosts) });
  return { tls: { certFile, keyFile }, ca };
}

function adminOf({
  admin,
  users,
  kubeconfig,
  tokenStore,
  keepKubeconfig: keep,
}: StartOptions): Promise<AdminAccess | undefined> {
  if (!admin) return Promise.resolve(undefined);
  for (const path of [kubeconfig, tokenStore]) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return AdminAccess.load({ kubeconfig, tokenStore, users, keep });
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

/** Creates the folder if necessary, and locks it for this process. @throws Failure */
export function takeRootDirectory(dir: string): Lock {
  try {
    ensureRootDirectory(dir);
    const lock = acquire(dir, "--root-directory");
    const ignore = join(dir, ".gitignore");
    if (readIfThere(ignore) === undefined) writeFileSync(ignore, "*\n");
    return lock;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      `${(error as Error).message}: give this user the right to write in ${dir}, or name another folder with --root-directory`,
      { cause: error },
    );
  }
}

/**
 * Puts kubectl's plugins into a folder for the PATH: this program's own, run by this Node.js, so that nothing needs to be
 * installed. Does nothing on Windows, where the PATH has no such scripts.
 *
 * @returns the folder
 */
export function kubectlPlugins(rootDirectory: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const folder = join(rootDirectory, "bin");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const node = [process.execPath, ...process.execArgv.filter((arg) => arg.startsWith("--conditions="))];
  for (const [name, file] of Object.entries(KUBECTL_PLUGINS)) {
    const path = join(folder, name);
    writePrivately(path, `#!/bin/sh\nexec ${[...node, file].map(shellWord).join(" ")} "$@"\n`, 0o700);
    chmodSync(path, 0o700);
  }
  return folder;
}
